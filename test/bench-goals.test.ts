/** The overview of all goals, read from the tables of the report. */
import { expect, test } from 'vitest'
import type { Goal } from '../bench/alone/goal.ts'
import { goalsOverview } from '../bench/goals-overview.ts'

const report = `# Benchmarks

| Work | Quoin | ratio (least–most) | goal |
| --- | --- | --- | --- |
| read | 3 /s | 1.30 (1–2) | ≥ 1.2 met |
| create | 1 /s | 0.70 (0–1) | ≥ 1 missed |

## Goals of Quoin alone

| Work | measured | goal | when |
| --- | --- | --- | --- |
| idle memory | 138 MB | under 120 MB **missed** | today |
| no figures | void | under 1 s | today |

## PostgreSQL

| PostgreSQL | Work | ratio (least–most) | goal |
| --- | --- | --- | --- |
| near | read | 0.71 (0–1) | ≥ 0.95 missed |
| near | control | 0.9 (0–1) |  |
`
const goal = (id: string, title: string): Goal => ({
  ...{ id, title, goal: 'small' },
  measure: async () => ({ found: '', met: true }),
})

test('missed goals come first, then those that were not measured, then those that are met', () => {
  expect(
    goalsOverview(report, [goal('idle', 'idle memory'), goal('million', '1,000,000 documents')]),
  ).toEqual([
    'Benchmarks: create: 0.70 (0–1) (≥ 1 missed)',
    'Goals of Quoin alone: idle memory: 138 MB (under 120 MB missed)',
    'Goals of Quoin alone: no figures: void (under 1 s)',
    'PostgreSQL: near, read: 0.71 (0–1) (≥ 0.95 missed)',
    '1,000,000 documents: not measured yet; npm run bench -- --only million',
    'Benchmarks: read: 1.30 (1–2) (≥ 1.2 met)',
  ])
})
