WITH "t10" AS (
  SELECT
    *
  FROM (
    SELECT
      "t8"."boot",
      "t8"."kind",
      "t8"."name",
      "t8"."duration_ns",
      "t7"."model",
      "t7"."kernel"
    FROM (
      SELECT
        "t1"."boot",
        "t1"."kind",
        "t1"."name",
        "t1"."duration_ns"
      FROM "spans" AS "t1"
      WHERE
        "t1"."kind" IN ('phase') AND "t1"."duration_ns" IS NOT NULL
    ) AS "t8"
    INNER JOIN (
      SELECT
        "t0"."boot",
        COALESCE("t0"."model", '-') AS "model",
        COALESCE("t0"."kernel", '-') AS "kernel"
      FROM "boots" AS "t0"
      WHERE
        "t0"."status" = 'complete'
    ) AS "t7"
      ON "t8"."boot" = "t7"."boot"
  ) AS "t9"
  UNION ALL
  SELECT
    *
  FROM (
    SELECT
      "t0"."boot",
      'total' AS "kind",
      'total' AS "name",
      "t0"."total_ns" AS "duration_ns",
      COALESCE("t0"."model", '-') AS "model",
      COALESCE("t0"."kernel", '-') AS "kernel"
    FROM "boots" AS "t0"
    WHERE
      "t0"."status" = 'complete'
  ) AS "t3"
), "t16" AS (
  SELECT
    "t15"."boot",
    "t15"."model",
    "t15"."kernel",
    "t15"."kind",
    "t15"."name",
    "t15"."duration_ns",
    "t15"."boots",
    "t15"."median_ns",
    "t15"."duration_ns" - "t15"."median_ns" AS "above_ns"
  FROM (
    SELECT
      "t12"."boot",
      "t12"."model",
      "t12"."kernel",
      "t12"."kind",
      "t12"."name",
      "t12"."duration_ns",
      "t14"."boots",
      "t14"."median_ns"
    FROM "t10" AS "t12"
    INNER JOIN (
      SELECT
        "t11"."model",
        "t11"."kernel",
        "t11"."kind",
        "t11"."name",
        COUNT(*) AS "boots",
        QUANTILE_CONT("t11"."duration_ns", 0.5) AS "median_ns"
      FROM "t10" AS "t11"
      GROUP BY
        1,
        2,
        3,
        4
    ) AS "t14"
      ON "t12"."model" = "t14"."model"
      AND "t12"."kernel" = "t14"."kernel"
      AND "t12"."kind" = "t14"."kind"
      AND "t12"."name" = "t14"."name"
  ) AS "t15"
)
SELECT
  "t6"."digest",
  "t23"."model",
  "t23"."kernel",
  "t23"."kind",
  "t23"."name",
  "t23"."boots",
  "t23"."duration_ns",
  "t23"."median_ns",
  "t23"."deviation_ns",
  "t23"."above_ns"
FROM (
  SELECT
    *
  FROM (
    SELECT
      "t18"."boot",
      "t18"."model",
      "t18"."kernel",
      "t18"."kind",
      "t18"."name",
      "t18"."duration_ns",
      "t18"."boots",
      "t18"."median_ns",
      "t18"."above_ns",
      "t20"."deviation_ns"
    FROM "t16" AS "t18"
    INNER JOIN (
      SELECT
        "t17"."model",
        "t17"."kernel",
        "t17"."kind",
        "t17"."name",
        QUANTILE_CONT(ABS("t17"."above_ns"), 0.5) AS "deviation_ns"
      FROM "t16" AS "t17"
      GROUP BY
        1,
        2,
        3,
        4
    ) AS "t20"
      ON "t18"."model" = "t20"."model"
      AND "t18"."kernel" = "t20"."kernel"
      AND "t18"."kind" = "t20"."kind"
      AND "t18"."name" = "t20"."name"
  ) AS "t21"
  WHERE
    "t21"."above_ns" > (
      "t21"."deviation_ns" * 8
    )
    AND "t21"."above_ns" >= (
      "t21"."median_ns" * 0.05
    )
) AS "t23"
INNER JOIN (
  SELECT
    "t0"."boot",
    "t0"."digest"
  FROM "boots" AS "t0"
  WHERE
    "t0"."status" = 'complete'
) AS "t6"
  ON "t23"."boot" = "t6"."boot"
