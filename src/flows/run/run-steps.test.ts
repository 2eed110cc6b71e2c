/** Turns and waits of a run, by a clock that the test moves. */
import { expect, test } from 'vitest'
import { evaluateText } from '../../../test/evaluate-expression.ts'
import { functionContext } from '../../../test/function-context.ts'
import type { Frame, Step } from '../compile/frame.ts'
import { RunSteps, TurnWork } from './run-steps.ts'

const frame = { run: {}, slots: [] } as unknown as Frame
const limits = { deadline: 30_000, budget: 1_000_000, depth: 8 }

function stepsBy(): { readonly steps: RunSteps; readonly pass: (milliseconds: number) => void } {
  let now = 0
  const steps = new RunSteps(() => now, limits)
  return {
    steps,
    pass(milliseconds) {
      now += milliseconds
    },
  }
}

test('a run that evaluates for more than 2 s without a pause is stopped', () => {
  const { steps, pass } = stepsBy()
  pass(2_001)
  expect(() => steps.yieldIfLong()).toThrow('without a pause')
})

test('many small costs of one expression are as one large one', () => {
  const { steps, pass } = stepsBy()
  pass(2_001)
  expect(() => {
    for (let element = 0; element < 300; element += 1) steps.spend(1)
  }).toThrow('without a pause')
})

test('a run whose first block waits for 3 s goes on, as a body of each over a locked document does', async () => {
  const { steps, pass } = stepsBy()
  const waits: Step = async () => {
    pass(3_000)
    return undefined
  }
  await steps.drive(waits, frame)
  await steps.yieldIfLong()
  pass(2_001)
  expect(() => steps.yieldIfLong()).toThrow('without a pause')
})

test('a loop whose blocks wait for nothing rests all the same', async () => {
  const { steps, pass } = stepsBy()
  const waits: Step = async () => {
    pass(1)
    return undefined
  }
  let rests = 0
  for (let turn = 0; turn < 100; turn += 1) {
    await steps.drive(waits, frame)
    const rest = steps.yieldIfLong()
    if (rest) rests += 1
    await rest
  }
  expect(rests).toBeGreaterThan(3)
})

test('a run that waits beyond its deadline is stopped', async () => {
  const { steps, pass } = stepsBy()
  const waits: Step = async () => {
    pass(30_000)
    return undefined
  }
  await steps.drive(waits, frame)
  expect(() => steps.yieldIfLong()).toThrow('did not end within 30000 ms')
})

// What expressions of a run may do in one turn of the event loop, and what builders are promised.

const list = (count: number, value: (at: number) => unknown) =>
  Array.from({ length: count }, (_, at) => value(at))
const long = 'a'.repeat(1_000_000)
/** Equal, and not the same text in memory, so that it is compared to the end. */
const same = Buffer.from(long).toString('latin1')
const broad = Object.fromEntries(list(80_000, (at) => [`f${at}`, at]) as [string, unknown][])
const names = {
  numbers: list(10_000, (at) => (at * 7_919) % 10_007),
  texts: list(10_000, (at) => `customer ${(at * 7_919) % 10_007}`),
  orders: list(1_000, (at) => ({ id: at, day: '2026-01-31', price: at / 4, qty: 2 })),
  goods: list(10_000, (at) => ({ id: at, name: `n${at}`, open: true, price: at / 4, qty: 2 })),
  few: list(100, (at) => at),
  long,
  same,
  copies: list(10_000, () => long),
  others: list(10_000, () => same),
  mixed: list(10_000, (at) => (at % 2 === 0 ? long : same)),
  last: `${long.slice(1)}b`,
  broad,
  broadText: JSON.stringify(broad),
  wideText: JSON.stringify(Object.fromEntries(list(10_000, (at) => [`f${at}`, at]) as [string, unknown][])),
  nearly: `${'a'.repeat(1_000)}b${'a'.repeat(1_000)}`,
  letters: list(4_000, (at) => (((at * at * 7 + at * 13) % 1_009) % 2 === 0 ? 'a' : 'b')).join(''),
  wide: Object.fromEntries(list(10_000, (at) => [`f${at}`, at]) as [string, unknown][]),
}

function evaluateInRun(text: string): unknown {
  const steps = new RunSteps(() => 0, { deadline: 30_000, budget: 1_000_000, depth: 8 })
  const spend = (elements: number, work?: number) => steps.spend(elements, work)
  return evaluateText(text, names, functionContext({ spend }))
}

test.each([
  'sortBy(numbers, n => n)',
  'sortBy(texts, t => t)',
  'join(texts, ",")',
  'unique(texts)',
  'groupBy(texts, t => t.slice(0, 10))',
  'few.map(a => orders.find(o => o.id == a))',
  'orders.map(o => format(o.day, "d MMMM yyyy"))',
  'sumBy(orders, o => round(o.price * o.qty, 2))',
  'replace(long.slice(0, 100000), "a", "b")',
  'goods.map(o => ({ ...o, total: o.price * o.qty }))',
  'long.includes(nearly)',
  'jsonParse(jsonText(orders))',
  'jsonParse(wideText)',
  'unique([wide])',
  'few.filter(n => matches(letters.slice(n), "(?i)\\\\b(casino|lottery|poker)\\\\b")).length',
  'long == same',
  'long < same',
  'unique([long, same])',
  'copies.includes(long)',
  'jsonParse(jsonText(goods))',
  'unique(goods)',
  'texts.map(t => slug(t))',
  'orders.map(o => addTo(o.day, { days: 1 }))',
])('%s is within the bound', (text) => {
  expect(() => evaluateInRun(text)).not.toThrow()
})

test.each([
  'few.slice(0, 10).map(a => sortBy(texts, t => t))',
  'few.slice(0, 10).map(a => groupBy(texts, t => t))',
  'few.map(a => wide == { ...wide, f0: 1 })',
  'few.map(a => isEmpty(wide)).map(a => few.map(b => isEmpty(wide)))',
  'numbers.map(n => [uuid(), uuid(), uuid(), uuid(), uuid()])',
  'numbers.map(n => format("2026-01-31T09:00Z", "EEEE d MMMM yyyy"))',
  'few.map(a => numbers.map(b => [[[[[[b]]]]]]))',
  `numbers.map(n => ${list(400, () => 'n*n').join('+')})`,
  'few.map(n => matches("a", "x".repeat(90) + text(n)))',
  'few.map(n => matches(letters.slice(n), "[ab]*a[ab]{120}$"))',
  'few.map(a => long.includes(nearly))',
  'few.map(a => ({ ...wide }))',
  'few.map(a => slug(long.slice(0, 10000)))',
  'few.map(a => long.replaceAll("a", "b"))',
  'numbers.map(n => long == same)',
  'numbers.map(n => long < same)',
  'copies.includes(last)',
  'copies.indexOf(last)',
  'copies == others',
  'groupBy(mixed, t => t)',
  'jsonParse(broadText)',
  'unique([broad])',
  'few.slice(0, 3).map(a => broad == { ...broad })',
])('%s is ended', (text) => {
  expect(() => evaluateInRun(text)).toThrow('which is their budget')
})

test('a pause of the event loop begins a new count, and work in one turn is added up', async () => {
  const work = new TurnWork()
  work.add(300_000)
  await new Promise((resolve) => setImmediate(resolve))
  work.add(300_000)
  expect(() => work.add(300_000)).toThrow('without a pause')
})
