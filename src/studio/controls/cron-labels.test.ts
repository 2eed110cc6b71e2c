import { expect, test } from 'vitest'
import { cronLabels, rhythmLabels } from './cron-labels.ts'

test.each([
  ['0 3 * * *', 'Every day at 03:00'],
  ['@daily', 'Every day at 00:00'],
  ['*/5 * * * *', 'Every 5 minutes'],
  ['* * * * *', 'Every minute'],
  ['*/1 * * * *', 'Every minute'],
  ['*/30 * * * *', 'Every 30 minutes'],
  ['15 * * * *', 'Every hour at minute 15'],
  ['0 */6 * * *', 'Every 6 hours'],
  ['30 9 * * 1-5', 'Monday to Friday at 09:30'],
  ['0 9 * * MON,thu', 'Monday, Thursday at 09:00'],
  ['0 9 * * 7', 'Sunday at 09:00'],
  ['0 9 1 * *', 'Day 1 of each month at 09:00'],
])('%s is %s', (cron, words) => {
  expect(cronLabels(cron)).toBe(words)
})

test.each([
  '*/45 * * * *',
  '*/7 * * * *',
  '*/0 * * * *',
  '0 */5 * * *',
  '0 */0 * * *',
  '0 9 1 * 1',
  '0 9 * 2 *',
  '*/10 * * * * *',
  '0 9-17 * * *',
  '1,2 3 * * *',
  '0 25 * * *',
  '',
  '0 9 * * 1-',
])('%s stays as it is written', (cron) => {
  expect(cronLabels(cron)).toBeUndefined()
})

test.each([
  ['', '1m', 'Every minute'],
  ['', '90s', 'Every 90 seconds'],
  ['', '2 h', 'Every 2 hours'],
  ['', '1d', 'Every day'],
  ['0 3 * * *', '', 'Every day at 03:00'],
  ['0 9 * 2 *', '', undefined],
  ['', '5 weeks', undefined],
  ['', '', undefined],
])('a schedule with cron %j and every %j: %s', (cron, every, words) => {
  expect(rhythmLabels(cron, every)).toBe(words)
})
