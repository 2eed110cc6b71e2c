/** Copies of flows for runs that are recorded: each is compiled when it is first needed, and only once. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FlowFixture, openFlowFixture } from '../../../test/run-flow.ts'
import { yieldToEventLoop } from '../../shared/cooperative.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import type { CompiledFunction } from '../compile/frame.ts'
import { tracedFlows } from './traced-flows.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
})
afterAll(() => fixture.close())

/** An active blueprint with two endpoints and a function, and the triggers whose flows were copied. */
function liveFixture() {
  const { blueprint } = fixture.compile({
    one: { type: 'on_startup_register_uri_get', in: { uri: 'one' } },
    first: { type: 'reply', in: { flow: '@one.flow', value: 1 } },
    two: { type: 'on_startup_register_uri_get', in: { uri: 'two' } },
    second: { type: 'reply', in: { flow: '@two.flow', value: 2 } },
    called: { type: 'trigger_custom_function', fields: { name: 'called' } },
    returned: { type: 'function_return', in: { flow: '@called.flow', value: 3 } },
  })
  if (!blueprint) throw new Error('It does not compile.')
  const copied: string[] = []
  const compiled: CompiledBlueprint = {
    ...blueprint,
    probed(flow, recorders) {
      copied.push(flow.trigger)
      return blueprint.probed(flow, recorders)
    },
  }
  const blueprints = new Map([['blueprint', { compiled, name: 'Live', deployment: 1 }]])
  const copies = tracedFlows({ table: () => ({ blueprints, functions: compiled.functions, version: 1 }) })
  const [one, two] = compiled.endpoints
  const called = compiled.functions.get('called')
  if (!one || !two || !called) throw new Error('A trigger is missing.')
  return { compiled, copies, copied, one: one.flow, two: two.flow, called }
}

test('nothing is compiled before it is asked for, and then only the flow that is', () => {
  const { compiled, copies, copied, one } = liveFixture()
  expect(copied).toEqual([])
  const copy = copies.of(compiled, one)
  expect(copy).toMatchObject({ type: 'http', label: 'GET one', flow: { trigger: 'one' } })
  expect(copy?.flow).not.toBe(one)
  expect(copy?.flow.first).not.toBe(one.first)
  expect(copies.of(compiled, one)).toBe(copy)
  expect(copied).toEqual(['one'])
})

test('`soon` gives nothing until the copy is there, and compiles it in a later turn', async () => {
  const { compiled, copies, copied, two } = liveFixture()
  expect(copies.soon(compiled, two)).toBeUndefined()
  expect(copies.soon(compiled, two)).toBeUndefined()
  expect(copied).toEqual([])
  for (let turn = 0; turn < 10 && !copies.soon(compiled, two); turn++) await yieldToEventLoop()
  expect(copies.soon(compiled, two)).toBe(copies.of(compiled, two))
  expect(copied).toEqual(['two'])
})

test('a flow of another version has no copy', async () => {
  const { compiled, copies, copied } = liveFixture()
  const { one: former } = liveFixture()
  expect(copies.of(compiled, former)).toBeUndefined()
  copies.soon(compiled, former)
  await yieldToEventLoop()
  expect(copies.soon(compiled, former)).toBeUndefined()
  expect(copied).toEqual([])
})

test('a function keeps all but its flow, and one that no active blueprint has is found by its owner alone', () => {
  const { compiled, copies, called } = liveFixture()
  const copy = copies.functionOf(called, copies.of)
  expect(copy).toMatchObject({ name: 'called', start: called.start, flow: { isFunction: true } })
  expect(copy?.flow.first).not.toBe(called.flow.first)
  const other: CompiledFunction = { ...called }
  expect(copies.functionOf(other, copies.of)).toBeUndefined()
  expect(copies.functionOf(other, copies.of, compiled)?.flow).toBe(copy?.flow)
})
