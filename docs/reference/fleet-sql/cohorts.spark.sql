SELECT
  `t8`.`model`,
  `t8`.`kind`,
  `t8`.`name`,
  COUNT(*) AS `boots`,
  PERCENTILE(`t8`.`duration_ns`, 0.5) AS `p50_ns`
FROM (
  SELECT
    *
  FROM (
    SELECT
      `t6`.`boot`,
      `t6`.`kind`,
      `t6`.`name`,
      `t6`.`duration_ns`,
      `t5`.`model`
    FROM (
      SELECT
        `t1`.`boot`,
        `t1`.`kind`,
        `t1`.`name`,
        `t1`.`duration_ns`
      FROM `spans` AS `t1`
      WHERE
        `t1`.`kind` IN ('phase') AND `t1`.`duration_ns` IS NOT NULL
    ) AS `t6`
    INNER JOIN (
      SELECT
        `t0`.`boot`,
        COALESCE(`t0`.`model`, '-') AS `model`
      FROM `boots` AS `t0`
      WHERE
        `t0`.`status` = 'complete'
    ) AS `t5`
      ON `t6`.`boot` = `t5`.`boot`
  ) AS `t7`
  UNION ALL
  SELECT
    *
  FROM (
    SELECT
      `t0`.`boot`,
      'total' AS `kind`,
      'total' AS `name`,
      `t0`.`total_ns` AS `duration_ns`,
      COALESCE(`t0`.`model`, '-') AS `model`
    FROM `boots` AS `t0`
    WHERE
      `t0`.`status` = 'complete'
  ) AS `t2`
) AS `t8`
GROUP BY
  1,
  2,
  3
