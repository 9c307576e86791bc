import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/** One node of OpenSearch with HTTP at loopback: its folder, its port of HTTP, its port of nodes. */
public class OpenSearchNode extends Node {
    OpenSearchNode(Environment environment, Collection<Class<? extends Plugin>> plugins) {
        super(environment, plugins, false);
    }

    public static void main(String[] given) throws Exception {
        Settings settings = Settings.builder()
            .put("path.home", given[0])
            .put("network.host", "127.0.0.1")
            .put("http.port", given[1])
            .put("transport.port", given[2])
            .put("discovery.type", "single-node")
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .put("node.store.allow_mmap", false)
            .build();
        Environment environment =
            InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), Path.of(given[0], "config"), () -> "one");
        new OpenSearchNode(environment, List.of(Netty4Plugin.class)).start();
        Thread.currentThread().join();
    }
}
