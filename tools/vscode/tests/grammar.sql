-- SYNTAX TEST "source.sqlext" "tokens of the dialect"
CREATE TABLE orders (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
-- <------ keyword.other.sqlext
--                      ^^^^^^^^^ storage.type.sqlext
--                                    ^^^^^^^^^^^^^ keyword.other.time.sqlext
--                                                                      ^^^^ string.quoted.single.sqlext
WITH ('path' = '${IN}/orders');
--              ^^^^^ variable.other.sqlext
SELECT window_start FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
--     ^^^^^^^^^^^^ variable.language.window.sqlext
--                             ^^^^^^ support.function.window.sqlext
--                                                  ^^^^^^^^^^ support.function.descriptor.sqlext
GROUP BY window_start EMIT AFTER WATERMARK EARLY EVERY 2 ROWS; SELECT early FROM t;
--                    ^^^^ ^^^^^ ^^^^^^^^^ ^^^^^ ^^^^^ keyword.control.emit.sqlext
--                                                                    ^^^^^ - keyword.control.emit.sqlext
