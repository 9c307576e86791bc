import com.google.gson.Gson;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.eclipse.lsp4j.*;
import org.eclipse.lsp4j.launch.LSPLauncher;
import org.eclipse.lsp4j.services.LanguageClient;
import org.eclipse.lsp4j.services.LanguageServer;

/** Asks a server about a script: the file, the name at line and character, then the server's command. Prints JSON. */
public class Lsp4jClient implements LanguageClient {
    final CompletableFuture<PublishDiagnosticsParams> told = new CompletableFuture<>();

    public void publishDiagnostics(PublishDiagnosticsParams found) { told.complete(found); }
    public void telemetryEvent(Object event) { }
    public void showMessage(MessageParams message) { System.err.println(message); }
    public CompletableFuture<MessageActionItem> showMessageRequest(ShowMessageRequestParams asked) {
        return CompletableFuture.completedFuture(null);
    }
    public void logMessage(MessageParams message) { System.err.println(message); }

    static <T> T answer(CompletableFuture<T> asked) throws Exception { return asked.get(60, TimeUnit.SECONDS); }

    public static void main(String[] given) throws Exception {
        Path file = Path.of(given[0]);
        Position where = new Position(Integer.parseInt(given[1]), Integer.parseInt(given[2]));
        List<String> command = Arrays.asList(given).subList(3, given.length);
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        Lsp4jClient client = new Lsp4jClient();
        var launcher = LSPLauncher.createClientLauncher(client, process.getInputStream(), process.getOutputStream());
        launcher.startListening();
        LanguageServer server = launcher.getRemoteProxy();
        InitializeParams begin = new InitializeParams();
        begin.setCapabilities(new ClientCapabilities());
        begin.setWorkspaceFolders(List.of(new WorkspaceFolder(file.getParent().toUri().toString(), "project")));
        begin.setInitializationOptions(Map.of("variables", Map.of("IN", "data", "OUT", "out")));
        Map<String, Object> found = new TreeMap<>();
        found.put("capabilities", answer(server.initialize(begin)).getCapabilities());
        server.initialized(new InitializedParams());
        String uri = file.toUri().toString();
        TextDocumentIdentifier document = new TextDocumentIdentifier(uri);
        var texts = server.getTextDocumentService();
        texts.didOpen(new DidOpenTextDocumentParams(new TextDocumentItem(uri, "sql", 1, Files.readString(file))));
        found.put("diagnostics", answer(client.told).getDiagnostics());
        found.put("hover", answer(texts.hover(new HoverParams(document, where))));
        found.put("completion", answer(texts.completion(new CompletionParams(document, where))).getRight());
        found.put("definition", answer(texts.definition(new DefinitionParams(document, where))).getLeft());
        found.put("references",
            answer(texts.references(new ReferenceParams(document, where, new ReferenceContext(true)))));
        found.put("rename", answer(texts.rename(new RenameParams(document, where, "sales"))));
        found.put("lenses", answer(texts.codeLens(new CodeLensParams(document))));
        answer(server.shutdown());
        server.exit();
        System.out.println(new Gson().toJson(found));
        System.exit(process.waitFor(30, TimeUnit.SECONDS) ? process.exitValue() : 1);
    }
}
