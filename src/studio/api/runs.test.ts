/** Runs as the studio reads them, held against the schemas that the server answers by. */
import { expect, it } from 'vitest'
import { pausedRunSchema, runSchema, runSummarySchema, tracingSchema } from '../../shared/api/runs.ts'
import type { PausedRun, Run, RunSummary, Step } from './runs.ts'
import type { Tracing } from './tracing.ts'

/** Every field of a record, by name. */
type Fields<T> = Record<keyof T, true>

const summary: Fields<RunSummary> = {
  guid: true,
  blueprint: true,
  trigger: true,
  trigger_type: true,
  label: true,
  status: true,
  started: true,
  us: true,
  reply: true,
  error: true,
  steps: true,
  user: true,
  deployment: true,
  replay_of: true,
}
const run: Fields<Run> = { ...summary, request: true, cut: true, result: true, compared: true }
const paused: Fields<PausedRun> = {
  ...{ run: true, blueprint: true, block: true, since: true, until: true, in: true, steps: true },
}
const step: Fields<Step> = {
  ...{ seq: true, block: true, type: true, frame: true, at_us: true, us: true, in: true, out: true },
  ...{ next: true, error: true, note: true, kind: true },
}
const tracing: Fields<Tracing> = { on: true, until: true, keep_last: true, breakpoints: true }

const { steps } = JSON.parse(JSON.stringify(runSchema)).properties
it.each([
  ['a summary', summary, runSummarySchema],
  ['a run', run, runSchema],
  ['a step', step, steps.items],
  ['a paused run', paused, pausedRunSchema],
  ['tracing', tracing, tracingSchema],
])('%s has the fields that the server sends', (_what, fields, schema) => {
  const { properties } = JSON.parse(JSON.stringify(schema))
  expect(Object.keys(fields).toSorted()).toEqual(Object.keys(properties).toSorted())
})
