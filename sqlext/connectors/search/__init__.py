"""Fill indexes of OpenSearch and Elasticsearch."""
