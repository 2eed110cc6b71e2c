import { expect, test } from 'vitest'
import { listenTo } from '../../../test/run-block.ts'
import block from './failure_event.ts'

test.each([[{ events: ['on_saved'] }], [{ events: ['on_run_failed', 1] }]])('%j is refused', (inputs) => {
  expect(() => listenTo(block, { inputs })).toThrow(
    expect.objectContaining({
      pin: 'events',
      message: expect.stringContaining('must be a list of on_run_failed'),
    }),
  )
})

test.each([
  [undefined, ['on_run_failed', 'on_job_dead', 'on_schedule_missed']],
  [[], ['on_run_failed', 'on_job_dead', 'on_schedule_missed']],
  ['on_attempt_failed', ['on_attempt_failed']],
  [
    ['on_job_dead', 'on_run_failed', 'on_job_dead'],
    ['on_job_dead', 'on_run_failed'],
  ],
])('%j is what it listens for', (events, listened) => {
  expect(listenTo(block, { inputs: { events } })).toEqual({ events: listened, cluster: false })
})

test('with watch cluster it listens to all, and its deployer needs a scope', () => {
  expect(listenTo(block, { inputs: {}, fields: { watch: 'cluster' } })).toMatchObject({ cluster: true })
  expect(block.deployScopes?.({ watch: 'cluster' })).toEqual(['systemlogs_view'])
  expect(block.deployScopes?.({ watch: 'blueprint' })).toEqual([])
})

test('it gives what happened', () => {
  const texts = {
    blueprint: 'b',
    name: 'n',
    block: 'c',
    pin: 'p',
    trigger: 't',
    code: 'INTERNAL',
    message: 'm',
    run: 'r',
    job: '',
  }
  const input = block.start({ event: 'on_run_failed', ...texts, time: 2_000, since: 1_000, count: 3 })
  expect(input).toEqual({
    event: 'on_run_failed',
    ...texts,
    time: new Date(2_000),
    since: new Date(1_000),
    count: 3,
  })
  expect(Object.keys(input).toSorted()).toEqual(
    Object.keys(block.out)
      .filter((pin) => pin !== 'flow')
      .toSorted(),
  )
})
