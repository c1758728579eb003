SELECT
  "t6"."model",
  "t6"."kernel",
  "t6"."kind",
  "t6"."name",
  COUNT(*) AS "boots",
  QUANTILE_CONT("t6"."duration_ns", 0.5) AS "p50_ns",
  QUANTILE_CONT("t6"."duration_ns", 0.9) AS "p90_ns",
  QUANTILE_CONT("t6"."duration_ns", 0.99) AS "p99_ns",
  MAX("t6"."duration_ns") AS "largest_ns"
FROM (
  SELECT
    "t4"."boot",
    "t4"."kind",
    "t4"."name",
    "t4"."duration_ns",
    "t5"."model",
    "t5"."kernel"
  FROM (
    SELECT
      "t0"."boot",
      "t0"."kind",
      "t0"."name",
      "t0"."duration_ns"
    FROM "spans" AS "t0"
    WHERE
      "t0"."kind" IN ('initcall') AND "t0"."duration_ns" IS NOT NULL
  ) AS "t4"
  INNER JOIN (
    SELECT
      "t1"."boot",
      COALESCE("t1"."model", '-') AS "model",
      COALESCE("t1"."kernel", '-') AS "kernel"
    FROM "boots" AS "t1"
    WHERE
      "t1"."status" = 'complete'
  ) AS "t5"
    ON "t4"."boot" = "t5"."boot"
) AS "t6"
GROUP BY
  1,
  2,
  3,
  4
