USE nodb;
