"""The examples of ``sql_examples``, run and compared with the output beside them."""
