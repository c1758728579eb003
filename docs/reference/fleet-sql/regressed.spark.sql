WITH `t7` AS (
  SELECT
    `t6`.`boot`,
    `t6`.`kind`,
    `t6`.`name`,
    `t6`.`duration_ns`,
    `t6`.`kernel`,
    `t6`.`model`,
    CAST(`t6`.`kernel` = '6.12.1' AS BIGINT) AS `is_new`,
    CAST(FLOOR((
      `t6`.`duration_ns`
    ) / (
      100
    )) AS BIGINT) AS `ticks`
  FROM (
    SELECT
      `t3`.`boot`,
      `t3`.`kind`,
      `t3`.`name`,
      `t3`.`duration_ns`,
      `t5`.`kernel`,
      `t5`.`model`
    FROM (
      SELECT
        `t0`.`boot`,
        `t0`.`kind`,
        `t0`.`name`,
        `t0`.`duration_ns`
      FROM `spans` AS `t0`
      WHERE
        `t0`.`kind` IN ('phase', 'initcall', 'unit', 'process', 'probe')
        AND `t0`.`duration_ns` IS NOT NULL
    ) AS `t3`
    INNER JOIN (
      SELECT
        `t1`.`boot`,
        COALESCE(`t1`.`kernel`, '-') AS `kernel`,
        COALESCE(`t1`.`model`, '-') AS `model`
      FROM `boots` AS `t1`
      WHERE
        `t1`.`status` = 'complete'
        AND COALESCE(`t1`.`kernel`, '-') IN ('6.6.1', '6.12.1')
    ) AS `t5`
      ON `t3`.`boot` = `t5`.`boot`
  ) AS `t6`
)
SELECT
  `t15`.`kind`,
  `t15`.`name`,
  `t15`.`model`,
  `t15`.`boots`,
  `t15`.`new_boots`,
  `t15`.`new_rank2`,
  `t15`.`ties`,
  `t11`.`old_ns`,
  `t11`.`new_ns`
FROM (
  SELECT
    `t13`.`kind`,
    `t13`.`name`,
    `t13`.`model`,
    SUM(`t13`.`boots`) AS `boots`,
    SUM(`t13`.`new_boots`) AS `new_boots`,
    SUM(`t13`.`rank2` * `t13`.`new_boots`) AS `new_rank2`,
    SUM(
      (
        CAST(`t13`.`boots` AS DOUBLE) * `t13`.`boots` * `t13`.`boots`
      ) - `t13`.`boots`
    ) AS `ties`
  FROM (
    SELECT
      `t12`.`kind`,
      `t12`.`name`,
      `t12`.`model`,
      `t12`.`ticks`,
      `t12`.`boots`,
      `t12`.`new_boots`,
      `t12`.`up_to`,
      (
        (
          `t12`.`up_to` * 2
        ) - `t12`.`boots`
      ) + 1 AS `rank2`
    FROM (
      SELECT
        `t9`.`kind`,
        `t9`.`name`,
        `t9`.`model`,
        `t9`.`ticks`,
        `t9`.`boots`,
        `t9`.`new_boots`,
        SUM(`t9`.`boots`) OVER (
          PARTITION BY `t9`.`kind`, `t9`.`name`, `t9`.`model`
          ORDER BY `t9`.`ticks` ASC NULLS LAST
          ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS `up_to`
      FROM (
        SELECT
          `t8`.`kind`,
          `t8`.`name`,
          `t8`.`model`,
          `t8`.`ticks`,
          COUNT(*) AS `boots`,
          SUM(`t8`.`is_new`) AS `new_boots`
        FROM `t7` AS `t8`
        GROUP BY
          1,
          2,
          3,
          4
      ) AS `t9`
    ) AS `t12`
  ) AS `t13`
  GROUP BY
    1,
    2,
    3
) AS `t15`
INNER JOIN (
  SELECT
    `t8`.`kind`,
    `t8`.`name`,
    `t8`.`model`,
    PERCENTILE(IF(`t8`.`is_new` = 0, `t8`.`duration_ns`, NULL), 0.5) AS `old_ns`,
    PERCENTILE(IF(`t8`.`is_new` = 1, `t8`.`duration_ns`, NULL), 0.5) AS `new_ns`
  FROM `t7` AS `t8`
  GROUP BY
    1,
    2,
    3
) AS `t11`
  ON `t15`.`kind` = `t11`.`kind`
  AND `t15`.`name` = `t11`.`name`
  AND `t15`.`model` = `t11`.`model`
