import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { describedBlock, type ExtensionCode, extensionBlock } from './extension-block.ts'

const none = { hosts: [], read: [], write: [] }
const { signal } = new AbortController()

function codeOf(modules: Record<string, string>, permissions = none): ExtensionCode {
  return { name: 'acme', version: '1.0.0', hash: JSON.stringify(modules), permissions, modules }
}

const entry = 'blocks/acme_greet.js'

/** A module with these lines in its function. */
const running = (body: string) => `
import { defineFlow } from 'quoin/extension'
const state = {}
export default defineFlow({
  identifier: 'acme_greet',
  title: 'Greet',
  summary: 'Greets.',
  in: { name: { type: 'value', help: 'Who.' }, now: { type: 'date', help: 'The clock.' } },
  out: { text: { type: 'value', help: 'The greeting.' }, count: { type: 'number', help: 'How many.' }, late: { type: 'flow', help: 'Late.' } },
  async run(inputs, host) { ${body} },
})`

async function blockOf(body: string, of = 'acme') {
  const name = entry.replace('acme', of)
  const module = running(body).replace('acme_', `${of}_`)
  const modules = { [name]: module, 'lib/words.js': 'export const hello = "Hello"' }
  const code = { ...codeOf(modules), name: of }
  const described = await describedBlock(code, name, signal)
  if ('problem' in described) throw new Error(described.problem)
  return extensionBlock(code, described.definition, name)
}

async function ran(body: string, inputs: Record<string, unknown> = {}, of = 'acme') {
  return runBlock(await blockOf(body, of), { inputs })
}

test('a block gives values, by the clock that it is given', async () => {
  const { outputs, logs } = await ran(
    'host.log({ a: 1 }); const { hello } = { hello: 1 }; return { text: "Hello " + inputs.name, count: new Date().getTime() }',
    { name: 'Ada', now: new Date(5) },
  )
  expect([outputs, logs]).toEqual([{ text: 'Hello Ada', count: 5 }, [{ level: 'info', value: { a: 1 } }]])
})

test.each([
  ['for(;;) {}', 'did not end within 500 ms'],
  ['await 1; for(;;) {}', 'did not end within 500 ms'],
  ['const f = () => Promise.resolve().then(f); await f()', 'did not end'],
  ['const a = []; for(;;) a.push(new Uint8Array(1e6))', /out of memory|did not end/],
  ['const f = () => f() + 1; f()', 'stack'],
  ['process.exit(1)', "threw ReferenceError: 'process' is not defined, in blocks/acme_greet.js:10"],
  ['return (await import("node:fs")).readFileSync("/etc/passwd")', 'there is no module node:fs'],
  ['return this.constructor.constructor("return process")()', 'process'],
  ['return { text: "x".repeat(600000) }', 'the result has'],
  ['return { other: 1 }', 'returned a value for the pin other'],
  ['return { __proto__: null, ["__proto__"]: { polluted: 1 } }', 'cannot be used'],
  ['return { count: "abc" }', 'returned a value for the pin count that must be a number'],
  ['return { next: "elsewhere" }', 'returned the way elsewhere'],
  ['return 5', 'must return an object'],
  ['return { count: Math.random() }', 'there is no randomness'],
  ['await new Promise(() => {})', 'waits for something that never comes'],
  ['host.documents.get("users", "1"); return { text: "at once" }', 'run ended before what it asked for'],
  ['await host.documents.get("users", "1")', 'does not declare the effect reads'],
  ['await host.call({ connection: "name" }, {})', 'does not declare the effect calls'],
  [
    'for (let i = 0; i < 200; i++) host.log(i); await Promise.all(Array.from({ length: 101 }, () => host.documents.get("a", "b")))',
    'asks for more than 100',
  ],
])('a run that does this fails alone: %s', async (body, problem) => {
  await expect(ran(body)).rejects.toThrow(problem)
  expect((await ran('return { text: "again" }')).outputs.text).toBe('again')
})

test('nothing of a run is there in the next one, of this extension or another', async () => {
  const leaves = `
    const seen = [globalThis.left, ({}).left, [].left, 'x'.trim(), defineFlow.left, state.left]
    for (const one of [globalThis, Object.prototype, Array.prototype, defineFlow, state]) one.left = inputs.name
    String.prototype.trim = () => inputs.name
    Promise.prototype.left = inputs.name
    JSON.parse = () => inputs.name
    return { text: seen.join() }`
  for (const [name, of] of [
    ['Ada', 'acme'],
    ['Bob', 'acme'],
    ['Eve', 'other'],
  ] as const)
    expect((await ran(leaves, { name }, of)).outputs.text).toBe(',,,x,,')
})

test('each of many runs at once gives what is its own', async () => {
  const names = Array.from({ length: 40 }, (_, at) => `user ${at}`)
  const body = 'globalThis.last = inputs.name; await 1; await 2; return { text: globalThis.last }'
  const block = await blockOf(body)
  const all = await Promise.all(names.map((name) => runBlock(block, { inputs: { name } })))
  expect(all.map(({ outputs }) => outputs.text)).toEqual(names)
})
