import { expect, test } from 'vitest'
import { jobOf } from './operations.ts'

test.each([
  ['a record of a dead job', { job: 'a-guid', queue: 'mails' }, 'a-guid'],
  ['what a flow logged as text', 'job', undefined],
  ['an object without a job', { jobs: 1 }, undefined],
  ['a job that is no guid', { job: 1 }, undefined],
])('the log leads to the job of %s', (_what, value, job) => {
  expect(jobOf({ value })).toBe(job)
})
