WITH "t3" AS (
  SELECT
    "t1"."boot",
    "t1"."digest",
    "t1"."total_ns",
    COALESCE("t1"."model", '-') AS "model"
  FROM "boots" AS "t1"
  WHERE
    "t1"."status" = 'complete'
), "t9" AS (
  SELECT
    "t6"."boot",
    "t6"."digest",
    "t6"."total_ns",
    "t6"."model",
    "t8"."limit_ns"
  FROM "t3" AS "t6"
  INNER JOIN (
    SELECT
      "t5"."model",
      QUANTILE_CONT("t5"."total_ns", 0.99) AS "limit_ns"
    FROM "t3" AS "t5"
    GROUP BY
      1
  ) AS "t8"
    ON "t6"."model" = "t8"."model"
)
SELECT
  "t18"."kind",
  "t18"."name",
  "t18"."slow_ns",
  "t18"."other_ns",
  "t15"."slow_boots",
  "t15"."all_boots"
FROM (
  SELECT
    "t16"."kind",
    "t16"."name",
    SUM("t16"."duration_ns") FILTER(WHERE
      "t16"."is_slow" = 1) AS "slow_ns",
    SUM("t16"."duration_ns") FILTER(WHERE
      "t16"."is_slow" = 0) AS "other_ns"
  FROM (
    SELECT
      "t4"."boot",
      "t4"."kind",
      "t4"."name",
      "t4"."duration_ns",
      "t13"."is_slow"
    FROM (
      SELECT
        "t0"."boot",
        "t0"."kind",
        "t0"."name",
        "t0"."duration_ns"
      FROM "spans" AS "t0"
      WHERE
        "t0"."kind" IN ('phase', 'initcall', 'unit', 'process', 'probe')
        AND "t0"."duration_ns" IS NOT NULL
    ) AS "t4"
    INNER JOIN (
      SELECT
        "t10"."boot",
        CAST("t10"."total_ns" >= "t10"."limit_ns" AS BIGINT) AS "is_slow"
      FROM "t9" AS "t10"
    ) AS "t13"
      ON "t4"."boot" = "t13"."boot"
  ) AS "t16"
  GROUP BY
    1,
    2
) AS "t18"
CROSS JOIN (
  SELECT
    SUM("t11"."is_slow") AS "slow_boots",
    COUNT(*) AS "all_boots"
  FROM (
    SELECT
      "t10"."boot",
      "t10"."digest",
      "t10"."total_ns",
      "t10"."model",
      "t10"."limit_ns",
      CAST("t10"."total_ns" >= "t10"."limit_ns" AS BIGINT) AS "is_slow"
    FROM "t9" AS "t10"
  ) AS "t11"
) AS "t15"
