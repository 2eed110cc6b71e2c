import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { noon, runBlock } from '../../../test/run-block.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { type CodeCall, codeThreads } from './code-threads.ts'
import block from './run_code.ts'

type Asked = {
  readonly more?: Record<string, unknown>
  readonly inputs?: Record<string, unknown>
  readonly timeout?: number
}

/** The parameters of the code are those that it gets. */
async function resultOf(code: string, { more = {}, inputs = {}, timeout }: Asked = {}) {
  const fields = { code, parameters: Object.keys(more), ...(timeout && { timeout }) }
  const ran = await runBlock(block, { fields, more, inputs })
  return ran.outputs.result
}

const settingsWith = (code: string, parameters: readonly string[] = []) => ({
  code,
  parameters,
  timeout: 200,
})

test.each([
  ['a brace too many', 'return 1 }) (function () {', 'not JavaScript'],
  ['a brace too few', 'if (true) { return 1', 'not JavaScript'],
  ['an import', 'import "node:fs"', 'not JavaScript'],
  ['await', 'return await 1', 'not JavaScript'],
  ['no word of ours', 'with (x) {}', 'not JavaScript'],
  ['a type that is unknown', '/** @param {bigint} n */ return n', 'has the type bigint'],
  [
    'a type that is long',
    `/** @param {${'x'.repeat(80)}} n */ return n`,
    `has the type ${'x'.repeat(60)} in`,
  ],
  ['more than 64 KiB', `return "${'x'.repeat(70_000)}"`, 'at most 65536 characters'],
  ['nesting without end', `return ${'('.repeat(60_000)}`, 'not JavaScript'],
])('a deploy refuses code with %s', (_, code, problem) => {
  expect(() => block.check?.({}, settingsWith(code))).toThrow(problem)
})

test('a deploy refuses parameters that are no names', () => {
  expect(() => block.check?.({}, settingsWith('return 1', ['a.b']))).toThrow('a.b is none')
  expect(() => block.check?.({}, settingsWith('return 1', ['class']))).toThrow('not JavaScript')
})

test('JSDoc gives the pins their types', () => {
  const code = `/**
   * Adds up.
   * @param {number} price - Without tax.
   * @param {string} [note]
   * @param {object[]} lines
   * @returns {number}
   */
  return price`
  expect(block.moreIn?.(settingsWith(code, ['price', 'note', 'lines', 'other']))).toEqual({
    price: { type: 'number', help: 'Without tax.', required: true },
    note: { type: 'value', help: 'The parameter note.' },
    lines: { type: 'array', help: 'The parameter lines.', required: true },
    other: { type: 'any', help: 'The parameter other.' },
  })
})

test.each<[string, string, Asked, unknown]>([
  [
    'a sum',
    'return lines.reduce((sum, { price }) => sum + price, 0)',
    { more: { lines: [{ price: 2 }, { price: 3 }] } },
    5,
  ],
  ['nothing', 'const unused = 1', {}, undefined],
  ['null', 'return null', {}, null],
  ['a missing parameter', 'return a === undefined && b === null', { more: { a: undefined, b: null } }, true],
  ['stored JSON', 'return a.b', { more: { a: new StoredJson('{"b":[1]}') } }, [1]],
  [
    'what JSON.stringify makes of it',
    'return { at: new Date(0), f() {}, n: NaN }',
    {},
    { at: '1970-01-01T00:00:00.000Z', n: null },
  ],
  ['a comment at its end', 'return 1 // done', {}, 1],
  ['text beyond Latin', 'return a + "😀"', { more: { a: 'ü\u2028' } }, 'ü\u2028😀'],
])('code gives %s', async (_, code, asked, result) => {
  expect(await resultOf(code, asked)).toEqual(result)
})

test('parameters of the type Date are dates', async () => {
  const code = '/** @param {Date} day */ return day.getTime() + 1'
  expect(await resultOf(code, { more: { day: '2026-01-31T12:00:00Z' } })).toBe(noon + 1)
})

test('a result that is not what @returns says fails', async () => {
  await expect(resultOf('/** @returns {number} */ return "1"')).rejects.toThrow('must return a number')
  await expect(resultOf('/** @returns {array} */ return {}')).rejects.toThrow('must return an array')
  expect(await resultOf('/** @returns {Date} */ return new Date(0)')).toBe('1970-01-01T00:00:00.000Z')
})

test.each([
  ['an error', 'null.x', 'threw TypeError'],
  ['its line', 'const a = 1\nconst b = 2\nthrow new RangeError("no")', 'threw RangeError: no, in line 3'],
  ['a text', 'throw "nothing left"', 'threw nothing left'],
  ['what cannot be written', 'throw Object.create(null)', 'was ended'],
  ['a promise', 'return Promise.resolve(1)', 'promise'],
  ['no clock', 'return Date.now()', 'wire the pin now'],
  ['no clock of a new date', 'return new Date()', 'wire the pin now'],
  ['no clock by the way of a prototype', 'return new (new Date(0).constructor)()', 'wire the pin now'],
  ['no randomness', 'return Math.random()', 'wire the pin seed'],
  ['no process', 'return process.version', "'process' is not defined"],
  ['no modules', 'return require("node:fs")', "'require' is not defined"],
  ['a key that changes prototypes', 'return JSON.parse(\'{"__proto__": {"admin": true}}\')', '__proto__'],
  [
    'values that are too deep',
    'let o = {}; for (let i = 0; i < 100; i++) o = { o }; return o',
    'deeper than 64',
  ],
  ['half of a character', 'return "\\ud800"', 'cannot be used'],
])('a failure of code says %s', async (_, code, message) => {
  await expect(resultOf(code)).rejects.toThrow(message)
})

test('clock and randomness are inputs: the same inputs give the same result', async () => {
  const code =
    'return [Date.now(), new Date().getHours(), new Date(2026, 5, 1).toISOString(), Math.random(), Math.random()]'
  const inputs = { now: new Date(noon), seed: 'a' }
  const first = await resultOf(code, { inputs })
  vi.stubEnv('TZ', 'America/New_York')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(new Date(noon).getHours()).toBe(7)
  const elsewhere = await codeThreads()({ ...plain, code, now: noon, seed: 'a' }, neverAborted)
  expect(JSON.parse(elsewhere.text ?? '')).toEqual(first)
  expect(first).toEqual([noon, 12, '2026-06-01T00:00:00.000Z', expect.any(Number), expect.any(Number)])
  expect(await resultOf(code, { inputs: { ...inputs, seed: 'b' } })).not.toEqual(first)
})

test.each([
  ['a loop without end', 'for (;;);'],
  ['a loop that catches', 'for (;;) try { for (;;); } catch {} finally { continue }'],
  ['a pattern that takes the square', 'return /(a+)+$/.test("a".repeat(60) + "b")'],
  ['a proxy that never answers', 'return Reflect.ownKeys(new Proxy({}, { ownKeys() { for (;;); } }))'],
  ['a result that never ends', 'return { toJSON() { for (;;); } }'],
  ['a name of an error that never ends', 'throw { get name() { for (;;); } }'],
])('%s is ended', async (_, code) => {
  await expect(resultOf(code, { timeout: 30 })).rejects.toThrow('did not end within 30 ms')
})

test.each([
  ['memory', 'const all = []; for (;;) all.push(new Uint8Array(1e6))'],
  ['memory of texts', 'let a = "x"; for (;;) a += a'],
  ['100 MB', 'return "x".repeat(100e6)'],
  ['20 MB of a result', 'return "x".repeat(20e6)'],
  ['a list of a thousand million', 'return new Array(1e9).fill(0)'],
  ['recursion', '(function again() { again() })()'],
  ['depth of JSON', 'return JSON.parse("[".repeat(1e6))'],
  ['depth of a result', 'let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o'],
  ['a long sort', 'return [..."x".repeat(1e6)].sort(() => 1).length'],
  ['a message without end', 'String.prototype.slice = () => "x".repeat(2e7); throw new Error("x")'],
])('%s does no harm, and the next call runs', async (_, code) => {
  await expect(resultOf(code, { timeout: 50 })).rejects.toThrow(/^(threw|was ended|did not end)/)
  expect(await resultOf('return 2')).toBe(2)
})

test('inputs of more than 512 KiB are refused', async () => {
  await expect(resultOf('return 1', { more: { a: 'x'.repeat(600_000) } })).rejects.toThrow('must be at most')
})

test('inputs of a million values are refused before they are written as JSON', async () => {
  const write = vi.spyOn(JSON, 'stringify')
  await expect(resultOf('return 1', { more: { a: Array(1_000_000).fill(1) } })).rejects.toThrow(
    'must be at most',
  )
  expect(write).not.toHaveBeenCalled()
  write.mockRestore()
})

test('what one call changes is gone in the next', async () => {
  expect(
    await resultOf(
      'globalThis.left = 1; Array.prototype.map = 1; Object.prototype.x = 1; JSON.stringify = () => "9"; return 1',
    ),
  ).toBe(1)
  expect(await resultOf('return [typeof left, typeof [].map, ({}).x === undefined]')).toEqual([
    'undefined',
    'function',
    true,
  ])
})

const neverAborted = new AbortController().signal
const plain: CodeCall = { code: 'return 1', parameters: [], input: '[]', dates: [], empty: [], timeout: 50 }

test('code and modules take turns in one thread, each in a sandbox and with a clock of its own', async () => {
  const run = codeThreads(2)
  const seen =
    "[typeof left, ({}).x === undefined, Date.now(), Math.random(), (() => { globalThis.left = Object.prototype.x = 1; Date.now = Math.random = () => 1; return 'end' })()]"
  const modules = { 'a.js': `const seen = ${seen}; export default { run: () => seen }` }
  const texts: unknown[] = []
  for (const now of [1, 2]) {
    const clock = { now, seed: String(now), timeout: 200 }
    texts.push((await run({ ...plain, ...clock, code: `return ${seen}` }, neverAborted)).text)
    const call = { code: 'm', modules, entry: 'a.js', input: '[{},[],{},[]]', ...clock }
    texts.push((await run(call, neverAborted)).text)
  }
  const [first, second] = [texts[0], texts[2]].map((text) => JSON.parse(String(text)))
  expect([first.slice(0, 3), second.slice(0, 3)]).toEqual([
    ['undefined', true, 1],
    ['undefined', true, 2],
  ])
  expect(first[3]).not.toBe(second[3])
  expect([texts[1], texts[3]].map((text) => JSON.parse(String(text))[0])).toEqual([first, second])
})

test('1,000 calls at once end, and other code and the event loop go on beside them', async () => {
  const run = codeThreads(2)
  let turns = 0
  const ticking = setInterval(() => turns++, 5)
  const many = Array.from({ length: 1000 }, () =>
    run({ ...plain, code: 'let n = 0; while (n < 1000) n++; return n' }, neverAborted),
  )
  const loops = Array.from({ length: 8 }, () =>
    run({ ...plain, code: 'for (;;);', timeout: 20 }, neverAborted),
  )
  let ended = 0
  for (const one of loops) one.then(() => ended++)
  expect(await run({ ...plain, code: 'return 7' }, neverAborted)).toEqual({ kind: 'given', text: '7' })
  expect(ended).toBeLessThan(8)
  expect(new Set((await Promise.all(many)).map(({ text }) => text))).toEqual(new Set(['1000']))
  expect(new Set((await Promise.all(loops)).map(({ kind }) => kind))).toEqual(new Set(['late']))
  clearInterval(ticking)
  expect(turns).toBeGreaterThan(10)
})

test('code that takes long leaves a thread to other code', async () => {
  const run = codeThreads(2)
  const some = (code: string) => run({ ...plain, code, timeout: 200 }, neverAborted)
  // Both threads are there.
  await Promise.all([some('return 1'), some('return 2')])
  let ended = 0
  const loops = Array.from({ length: 4 }, () => some('for (;;);').then(() => ended++))
  await some('return 3')
  expect(ended).toBe(0)
  await Promise.all(loops)
})

test('short code goes on beside different loops, however many of them wait, and also where it is new', async () => {
  const run = codeThreads(2)
  const some = (code: string) => run({ ...plain, code, timeout: 200 }, neverAborted)
  // Both threads are there.
  await Promise.all([some('return 1'), some('return 2')])
  const spins = new AbortController()
  let ended = 0
  const loops = Array.from({ length: 999 }, (_, at) =>
    run({ ...plain, code: `for (;;) ${at % 3}`, timeout: 1_000 }, spins.signal).finally(() => ended++),
  )
  const short = Array.from({ length: 10 }, (_, at) => at)
  for (const at of [...short, ...short])
    expect(await some(`return ${at}`)).toEqual({ kind: 'given', text: String(at) })
  expect(ended).toBe(0)
  spins.abort()
  const kinds = (await Promise.allSettled(loops)).map((one) =>
    one.status === 'fulfilled' ? one.value.kind : 'left',
  )
  expect(new Set(kinds)).toEqual(new Set(['late', 'left']))
})

test('code that takes longer than others gets all of its time, and the same numbers at its second beginning', async () => {
  const run = codeThreads(2)
  const code = 'const first = Math.random(); let n = 0; while (n < 2e6) n++; return [n, first, Math.random()]'
  const call = { ...plain, code, timeout: 2_000, now: 1, seed: 'a' }
  const [first, second] = [await run(call, neverAborted), await run(call, neverAborted)]
  expect(JSON.parse(first.text ?? '')).toEqual([2_000_000, expect.any(Number), expect.any(Number)])
  expect(second).toEqual(first)
})

test('a call leaves the queue when its run is ended, and too many are refused', async () => {
  const run = codeThreads(2)
  const ended = new AbortController()
  const loop = { ...plain, code: 'for (;;);', timeout: 300 }
  const first = run(loop, ended.signal)
  const second = run(loop, ended.signal)
  await sleep(1)
  ended.abort()
  await expect(second).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfter: 1 })
  await expect(run(plain, ended.signal)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  const long = JSON.stringify(['x'.repeat(40e6)])
  const waiting = run({ ...loop, input: long }, neverAborted)
  await expect(run({ ...loop, input: long }, neverAborted)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  // It may have had its thread already.
  await Promise.allSettled([first, waiting])
})
