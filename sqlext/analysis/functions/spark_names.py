"""List the built-in functions of Spark 4.2.0; made by tools/list_spark_functions.py."""

from __future__ import annotations

AGGREGATES = frozenset(
    """
    any any_value approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate
    approx_top_k_combine array_agg avg bit_and bit_or bit_xor bitmap_and_agg bitmap_construct_agg bitmap_or_agg
    bool_and bool_or collect_list collect_set corr count count_if count_min_sketch covar_pop covar_samp every
    first first_value grouping grouping_id histogram_numeric hll_sketch_agg hll_union_agg kll_merge_agg_bigint
    kll_merge_agg_double kll_merge_agg_float kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float
    kurtosis last last_value listagg max max_by mean measure median min min_by mode percentile percentile_approx
    percentile_cont percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx
    regr_sxy regr_syy skewness some std stddev stddev_pop stddev_samp string_agg sum theta_intersection_agg
    theta_sketch_agg theta_union_agg try_avg try_sum tuple_intersection_agg_double tuple_intersection_agg_integer
    tuple_sketch_agg_double tuple_sketch_agg_integer tuple_union_agg_double tuple_union_agg_integer var_pop
    var_samp variance
    """.split()
)

OTHERS = frozenset(
    """
    abs acos acosh add_months aes_decrypt aes_encrypt aggregate and approx_top_k_estimate array array_append
    array_compact array_contains array_distinct array_except array_insert array_intersect array_join array_max
    array_min array_position array_prepend array_remove array_repeat array_size array_sort array_union
    arrays_overlap arrays_zip ascii asin asinh assert_true atan atan2 atanh base64 between bigint bin binary
    bit_count bit_get bit_length bitmap_bit_position bitmap_bucket_number bitmap_count boolean bround btrim
    cardinality case cast cbrt ceil ceiling char char_length character_length chr coalesce collate collation
    collations concat concat_ws contains conv convert_timezone cos cosh cot crc32 csc cume_dist curdate
    current_catalog current_database current_date current_path current_schema current_time current_timestamp
    current_timezone current_user date date_add date_diff date_format date_from_unix_date date_part date_sub
    date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear decimal decode degrees
    dense_rank div double e element_at elt encode endswith equal_null exists exp explode explode_outer expm1
    extract factorial filter find_in_set flatten float floor forall format_number format_string from_avro from_csv
    from_json from_protobuf from_unixtime from_utc_timestamp from_xml get get_json_object getbit greatest hash hex
    hll_sketch_estimate hll_union hour hypot if ifnull ilike in initcap inline inline_outer
    input_file_block_length input_file_block_start input_file_name instr int is_valid_utf8 is_valid_variant
    is_variant_null isnan isnotnull isnull java_method json_array_length json_object_keys json_tuple
    kll_sketch_get_n_bigint kll_sketch_get_n_double kll_sketch_get_n_float kll_sketch_get_quantile_bigint
    kll_sketch_get_quantile_double kll_sketch_get_quantile_float kll_sketch_get_rank_bigint
    kll_sketch_get_rank_double kll_sketch_get_rank_float kll_sketch_merge_bigint kll_sketch_merge_double
    kll_sketch_merge_float kll_sketch_to_string_bigint kll_sketch_to_string_double kll_sketch_to_string_float lag
    last_day lcase lead least left len length levenshtein like ln localtimestamp locate log log10 log1p log2 lower
    lpad ltrim luhn_check make_date make_dt_interval make_interval make_time make_timestamp make_timestamp_ltz
    make_timestamp_ntz make_valid_utf8 make_ym_interval map map_concat map_contains_key map_entries map_filter
    map_from_arrays map_from_entries map_keys map_values map_zip_with mask md5 minute mod
    monotonically_increasing_id month monthname months_between named_struct nanvl negative next_day not now
    nth_value ntile nullif nullifzero nvl nvl2 octet_length or overlay parse_json parse_url percent_rank pi pmod
    posexplode posexplode_outer position positive pow power printf python_worker_logs quarter quote radians
    raise_error rand randn random randstr range rank reduce reflect regexp regexp_count regexp_extract
    regexp_extract_all regexp_instr regexp_like regexp_replace regexp_substr repeat replace reverse right rint
    rlike round row_number rpad rtrim schema_of_avro schema_of_csv schema_of_json schema_of_variant
    schema_of_variant_agg schema_of_xml sec second sentences sequence session_user session_window sha sha1 sha2
    shiftleft shiftright shiftrightunsigned shuffle sign signum sin sinh size slice smallint sort_array soundex
    space spark_partition_id split split_part sql_keywords sqrt st_asbinary st_geogfromwkb st_geomfromwkb
    st_setsrid st_srid stack startswith str_to_map string struct substr substring substring_index tan tanh
    theta_difference theta_intersection theta_sketch_estimate theta_union time time_bucket time_diff
    time_from_micros time_from_millis time_from_seconds time_to_micros time_to_millis time_to_seconds time_trunc
    timestamp timestamp_micros timestamp_millis timestamp_seconds tinyint to_avro to_binary to_char to_csv to_date
    to_json to_number to_protobuf to_time to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp
    to_utc_timestamp to_varchar to_variant_object to_xml transform transform_keys transform_values translate trim
    trunc try_add try_aes_decrypt try_divide try_element_at try_make_interval try_make_timestamp
    try_make_timestamp_ltz try_make_timestamp_ntz try_mod try_multiply try_parse_json try_parse_url try_reflect
    try_subtract try_to_binary try_to_date try_to_number try_to_time try_to_timestamp try_url_decode
    try_validate_utf8 try_variant_get tuple_difference_double tuple_difference_integer
    tuple_difference_theta_double tuple_difference_theta_integer tuple_intersection_double
    tuple_intersection_integer tuple_intersection_theta_double tuple_intersection_theta_integer
    tuple_sketch_estimate_double tuple_sketch_estimate_integer tuple_sketch_summary_double
    tuple_sketch_summary_integer tuple_sketch_theta_double tuple_sketch_theta_integer tuple_union_double
    tuple_union_integer tuple_union_theta_double tuple_union_theta_integer typeof ucase unbase64 unhex uniform
    unix_date unix_micros unix_millis unix_seconds unix_timestamp upper url_decode url_encode user uuid
    validate_utf8 variant_explode variant_explode_outer variant_get vector_avg vector_cosine_similarity
    vector_inner_product vector_l2_distance vector_norm vector_normalize vector_sum version weekday weekofyear
    when width_bucket window window_time xpath xpath_boolean xpath_double xpath_float xpath_int xpath_long
    xpath_number xpath_short xpath_string xxhash64 year zeroifnull zip_with
    """.split()
)

#: Numbers of arguments, the last with + if more are taken -> the functions that take so many.
COUNTS = {
    "0": """
    cume_dist curdate current_catalog current_database current_date current_path current_schema current_timestamp
    current_timezone current_user e input_file_block_length input_file_block_start input_file_name localtimestamp
    monotonically_increasing_id now pi row_number session_user spark_partition_id user version
    """,
    "0,1": """
    current_time ntile rand randn random uuid
    """,
    "0,1,2": """
    make_ym_interval unix_timestamp
    """,
    "0,1,2,3,4": """
    lag lead make_dt_interval
    """,
    "0,1,2,3,4,5,6,7": """
    make_interval
    """,
    "1": """
    abs acos acosh array_agg array_compact array_distinct array_max array_min array_size ascii asin asinh atan
    atanh avg base64 bin bit_and bit_count bit_length bit_or bit_xor bitmap_and_agg bitmap_bit_position
    bitmap_bucket_number bitmap_construct_agg bitmap_count bitmap_or_agg bool_and bool_or cardinality cbrt char
    char_length character_length chr collation collect_list collect_set cos cosh cot count_if crc32 csc
    date_from_unix_date day dayname dayofmonth dayofweek dayofyear degrees every exp expm1 factorial flatten
    grouping hex hll_sketch_estimate initcap is_valid_utf8 is_valid_variant is_variant_null isnan isnotnull isnull
    json_array_length json_object_keys kll_sketch_get_n_bigint kll_sketch_get_n_double kll_sketch_get_n_float
    kll_sketch_to_string_bigint kll_sketch_to_string_double kll_sketch_to_string_float kurtosis last_day lcase
    length ln log10 log1p log2 lower make_valid_utf8 map_entries map_from_entries map_keys map_values max md5 mean
    median min month monthname negative nullifzero octet_length parse_json positive quarter quote radians
    raise_error reverse rint schema_of_variant schema_of_variant_agg sec sha sha1 sign signum sin sinh size
    skewness some soundex sqrt st_geogfromwkb st_srid std stddev stddev_pop stddev_samp sum tan tanh
    theta_intersection_agg theta_sketch_estimate time_from_micros time_from_millis time_from_seconds
    time_to_micros time_to_millis time_to_seconds timestamp_micros timestamp_millis timestamp_seconds
    to_variant_object try_parse_json try_url_decode try_validate_utf8 tuple_sketch_estimate_double
    tuple_sketch_estimate_integer tuple_sketch_theta_double tuple_sketch_theta_integer typeof ucase unbase64 unhex
    unix_date unix_micros unix_millis unix_seconds upper url_decode url_encode validate_utf8 var_pop var_samp
    variance weekday weekofyear window_time year zeroifnull
    """,
    "1+": """
    coalesce concat_ws count format_string hash hour minute printf second xxhash64
    """,
    "1,2": """
    any_value approx_count_distinct array_sort assert_true bround btrim first first_value from_unixtime
    hll_sketch_agg hll_union_agg kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float
    kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float last last_value listagg log ltrim randstr
    round rtrim schema_of_csv schema_of_json schema_of_xml shuffle sort_array st_asbinary st_geomfromwkb
    string_agg theta_sketch_agg theta_union_agg to_binary to_csv to_date to_json to_time to_timestamp
    to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_xml trim try_avg try_sum try_to_binary try_to_date
    try_to_time try_to_timestamp tuple_intersection_agg_double tuple_intersection_agg_integer
    tuple_sketch_summary_double tuple_sketch_summary_integer
    """,
    "1,2,3": """
    sentences str_to_map
    """,
    "2": """
    add_months array_append array_contains array_except array_intersect array_position array_prepend array_remove
    array_repeat array_union arrays_overlap atan2 bit_get collate contains corr covar_pop covar_samp date_add
    date_diff date_format date_part date_sub date_trunc dateadd datediff datepart element_at encode endswith
    equal_null exists extract filter find_in_set forall format_number from_utc_timestamp get get_json_object
    getbit histogram_numeric hypot ifnull instr kll_sketch_get_quantile_bigint kll_sketch_get_quantile_double
    kll_sketch_get_quantile_float kll_sketch_get_rank_bigint kll_sketch_get_rank_double kll_sketch_get_rank_float
    kll_sketch_merge_bigint kll_sketch_merge_double kll_sketch_merge_float left map_contains_key map_filter
    map_from_arrays nanvl next_day nullif nvl pmod pow power regexp regexp_count regexp_like regexp_substr
    regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy repeat right rlike
    session_window sha2 shiftleft shiftright shiftrightunsigned st_setsrid startswith theta_difference
    theta_intersection time_trunc to_char to_number to_utc_timestamp to_varchar transform transform_keys
    transform_values trunc try_add try_divide try_element_at try_mod try_multiply try_subtract try_to_number
    tuple_difference_double tuple_difference_integer tuple_difference_theta_double tuple_difference_theta_integer
    xpath xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number xpath_short xpath_string
    """,
    "2+": """
    decode elt greatest java_method json_tuple least reflect stack try_reflect
    """,
    "2,3": """
    approx_percentile array_join convert_timezone from_csv from_json from_xml hll_union ilike levenshtein like
    locate lpad max_by min_by months_between nth_value parse_url percentile percentile_approx position
    regexp_extract regexp_extract_all regexp_instr replace rpad sequence split substr substring theta_union
    time_bucket try_parse_url try_variant_get tuple_intersection_double tuple_intersection_integer
    tuple_intersection_theta_double tuple_intersection_theta_integer uniform variant_get
    """,
    "2,3,4": """
    window
    """,
    "2,3,4,5": """
    aes_decrypt try_aes_decrypt
    """,
    "2,3,4,5,6": """
    aes_encrypt
    """,
    "3": """
    array_insert conv if make_date make_time map_zip_with nvl2 slice split_part substring_index time_diff translate
    zip_with
    """,
    "3,4": """
    aggregate overlay reduce regexp_replace
    """,
    "4": """
    width_bucket
    """,
}
