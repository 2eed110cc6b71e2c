import { expect, test } from 'vitest'
import type { AlertFigure } from '../../shared/alerts/alert-figures.ts'
import { firesAfter } from './check-alerts.ts'

test.each<[AlertFigure, number, number | null, boolean, boolean]>([
  // figure, threshold, value, fires already, fires then
  ['error_share', 5, 4.9, false, false],
  ['error_share', 5, 5, false, true],
  ['error_share', 5, 4.1, true, true],
  ['error_share', 5, 4, true, false],
  ['error_share', 5, null, true, true],
  ['error_share', 5, null, false, false],
  ['dead_letters', 1, 0, false, false],
  ['dead_letters', 1, 1, false, true],
  ['dead_letters', 1, 0, true, false],
  ['dead_letters', 0, 0, false, false],
  ['queue_age', 300, 241, true, true],
  ['queue_age', 300, 240, true, false],
  ['disk_free', 1000, 1001, false, false],
  ['disk_free', 1000, 1000, false, true],
  ['disk_free', 1000, 0, false, true],
  ['disk_free', 1000, 1250, true, true],
  ['disk_free', 1000, 1251, true, false],
])('%s %d at %j, firing %j: %j', (figure, threshold, value, firing, fires) => {
  expect(firesAfter({ figure, threshold }, value, firing)).toBe(fires)
})
