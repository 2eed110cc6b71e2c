import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FlowBlocks, type FlowFixture, openFlowFixture } from '../../../test/run-flow.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import { unknownFunctions } from './check-candidate.ts'
import { liveBlueprints } from './live-blueprints.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
})
afterAll(() => fixture.close())

function compiled(guid: string, blocks: FlowBlocks): CompiledBlueprint {
  const { blueprint, problems } = fixture.compile(blocks)
  if (!blueprint) throw new Error(JSON.stringify(problems))
  return { ...blueprint, guid }
}

const functions = (...names: string[]): FlowBlocks =>
  Object.fromEntries(
    names.map((name, at) => [`fn${at}`, { type: 'trigger_custom_function', fields: { name } }]),
  )

const calling = (name: string, more: FlowBlocks = {}): FlowBlocks => ({
  get: { type: 'on_startup_register_uri_get', in: { uri: 'a' } },
  call: { type: 'function_custom_execute', in: { flow: '@get.flow', function: name } },
  ...more,
})

test.each<[string, FlowBlocks, FlowBlocks, string | undefined]>([
  ['of the blueprint', calling('mine', functions('mine')), {}, undefined],
  ['of another blueprint', calling('theirs'), functions('theirs'), undefined],
  ['with spaces around it', calling(' theirs '), functions('theirs'), undefined],
  ['that only a run knows', calling('=query.name'), {}, undefined],
  ['misspelled', calling('thiers'), functions('theirs'), 'Did you mean theirs?'],
  ['like none', calling('send mail'), functions('theirs'), 'the call fails until there is one.'],
])('a function %s', (_what, blocks, others, message) => {
  const live = liveBlueprints(new Set())
  const compiledOther = compiled('other', others)
  live.set('other', { compiled: compiledOther, name: 'Other', deployment: 1 })
  // What the former version of the same blueprint had does not count.
  const former = compiled('this', functions('thiers', 'send mail'))
  live.set('this', { compiled: former, name: 'This', deployment: 1 })
  const notes = unknownFunctions(compiled('this', blocks), live.table())
  expect(notes).toEqual(
    message === undefined
      ? []
      : [{ block: 'call', pin: 'function', level: 'warn', message: expect.stringContaining(message) }],
  )
})

test('the column of a name in an expression, and a bound', () => {
  const table = liveBlueprints(new Set()).table()
  expect(unknownFunctions(compiled('this', calling('="none"')), table)).toMatchObject([{ column: 1 }])
  const many = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [`call${at}`, { ...calling(`f${at}`).call }]),
  )
  expect(unknownFunctions(compiled('this', { ...calling('none'), ...many }), table)).toHaveLength(51)
})
