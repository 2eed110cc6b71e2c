import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FlowBlocks, type FlowFixture, openFlowFixture, replyWith } from '../../../../test/run-flow.ts'
import { isLargerThan, type JsonValue } from '../../../shared/json.ts'
import { StoredJson } from '../../../storage/stored-json.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
})
afterAll(() => fixture.close())

async function replied(value: JsonValue, blocks: FlowBlocks = {}) {
  const { replies } = await fixture.run(replyWith(value, blocks))
  return replies[0]?.value
}

const object = { o: { type: 'object_new_fields', fields: { fields: ['n'] }, in: { n: 1 } } }

test('what is the same in each run is written when the flow is compiled', async () => {
  expect(await replied('@o.object', object)).toEqual(new StoredJson('{"n":1}'))
  expect(await replied(['a'])).toEqual(new StoredJson('["a"]'))
})

test('not what a run has to find out, nor what is no object or list', async () => {
  const asked = {
    q: { type: 'httpconnection_get_params', in: { connection: '@get.connection', field: 'n' } },
  }
  const made = { ...asked, o: { ...object.o, in: { n: '@q.value' } } }
  expect(await replied('@o.object', made)).not.toBeInstanceOf(StoredJson)
  expect(await replied('text')).toBe('text')
})

test('nor what shares its parts so often that its text would be far longer than what it is made of', async () => {
  const doubled = Object.fromEntries(
    Array.from({ length: 15 }, (_, n) => [
      `d${n}`,
      {
        type: 'object_new_fields',
        fields: { fields: ['a', 'b'] },
        in: n === 0 ? { a: 1, b: 1 } : { a: `@d${n - 1}.object`, b: `@d${n - 1}.object` },
      },
    ]),
  )
  const value = await replied('@d14.object', doubled)
  expect(value).not.toBeInstanceOf(StoredJson)
  expect(isLargerThan(value, 2 ** 15, 1_000_000)).toBe(true)
})
