import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FlowFixture, openFlowFixture, replyWith } from '../../../../test/run-flow.ts'
import { loadBlocks } from '../../../blocks/load-blocks.ts'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'
import { importBlueprint } from '../../blueprints/blueprint-file.ts'
import { compileCooperatively } from '../compile-blueprint.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
})
afterAll(() => fixture.close())

const env = { BASE_URL: 'https://shop.example', LIMIT: 5, MAIL: { from: 'shop@example.org' }, NONE: null }

describe('in a run', () => {
  test.each<[string, string, JsonValue | undefined]>([
    ['a text', '=env.BASE_URL + "/orders"', 'https://shop.example/orders'],
    ['a number', '=env.LIMIT * 2', 10],
    ['a field of an object', '=env.MAIL.from', 'shop@example.org'],
    ['a value by a name that is calculated', '=env[params.which]', 5],
    ['null', '=env.NONE ?? "nothing"', 'nothing'],
    ['a name without a value', '=env.MISSING ?? "nothing"', 'nothing'],
    ['what every object has', '=env.constructor ?? env.toString ?? "nothing"', 'nothing'],
    ['all values', '=keys(env).length', 4],
  ])('%s', async (_what, expression, expected) => {
    const request = { query: { which: 'LIMIT' }, url: '/?which=LIMIT' }
    const { replies, end } = await fixture.run(replyWith(expression), request, {}, { env })
    expect([end.error, replies[0]?.value]).toEqual([undefined, expected])
  })

  test('a value that does not fit is a fault of the blueprint, not of the request', async () => {
    const { end, logs } = await fixture.run(replyWith('=env.BASE_URL * 2'), {}, {}, { env })
    expect(end.error).toMatchObject({ code: 'INTERNAL' })
    expect(logs[0]?.message).toMatch(/column 1/)
  })
})

async function compiled(expression: string, values: JsonObject | undefined) {
  const ids = ['get', 'reply']
  const { blocks } = importBlueprint({ name: 'Test', blocks: replyWith(expression) }, () => ids.shift() ?? '')
  return compileCooperatively('blueprint', blocks, await loadBlocks(), values && { env: values })
}

describe('at a deploy', () => {
  test.each<[string, string, readonly string[]]>([
    ['a name with a value', '=env.BASE_URL', []],
    ['a value that is null', '=env.NONE + 1', []],
    ['a value whose type fits', '=env.LIMIT > number(params.n ?? "1")', []],
    ['a name that is calculated', '=env[params.which]', []],
    [
      'a name without a value',
      '=env.COLOR',
      ['There is no value env.COLOR. Set it under Environment. (column 1)'],
    ],
    [
      'a misspelled name',
      '=1 + env.LIMTI',
      ['There is no value env.LIMTI. Set it under Environment. Did you mean LIMIT? (column 5)'],
    ],
    ['a missing name that is read twice', '=env.A + env.A + env["A"]', [expect.stringContaining('env.A.')]],
    [
      'two missing names',
      '=env.A + env.B',
      [expect.stringContaining('env.A'), expect.stringContaining('env.B')],
    ],
    [
      'a value of another type',
      '=env.BASE_URL > 5',
      [expect.stringMatching(/^With the present values of env: /)],
    ],
    ['a text where the pin takes any', '=env.MAIL.from.trim()', []],
    ['a block named by a calculated field', '={ env: 1 }.env', []],
  ])('%s', async (_what, expression, messages) => {
    const { blueprint, problems } = await compiled(expression, env)
    expect(problems).toEqual([])
    expect(blueprint?.notes).toEqual(
      messages.map((message) => ({
        block: 'reply',
        pin: 'value',
        level: 'warn',
        message,
        column: expect.any(Number),
      })),
    )
  })

  test('a pin that takes another type than the present value has is a warning', async () => {
    const blocks = replyWith(1)
    const file = {
      name: 'Test',
      blocks: {
        ...blocks,
        reply: { ...blocks.reply, in: { flow: '@get.flow', value: 1, code: '=env.MAIL' } },
      },
    }
    const { blocks: read } = importBlueprint(
      file,
      (
        () => () =>
          crypto.randomUUID()
      )(),
    )
    const { blueprint, problems } = await compileCooperatively('b', read, await loadBlocks(), { env })
    expect(problems).toEqual([])
    expect(blueprint?.notes.map(({ message }) => message)).toEqual([
      'With the present values of env: The pin takes a number, and the expression gives an object.',
    ])
  })

  test('what is compiled without the values, such as at a start, says nothing about them', async () => {
    const { blueprint, problems } = await compiled('=env.BASE_URL > 5 && env.MISSING', undefined)
    expect([problems, blueprint?.notes]).toEqual([[], []])
  })
})
