/** Inputs of pages: how each type is drawn, what it takes and what it refuses. */
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts'
import type { SeenPage } from '../../page-visitor.ts'
import { refused } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { form, input, keeping, page, show, stranger } from '../page-blocks.ts'

interface Typed {
  /** How the control is written. */
  readonly drawn: RegExp
  /** What is typed, and what is stored of it. */
  readonly good: readonly [string | readonly string[] | undefined, JsonValue | undefined]
  /** What is typed and refused; undefined where nothing can be typed wrong. */
  readonly bad?: string
  readonly pins?: JsonObject
}

const options = ['a', { value: 'b', label: 'Bee' }]
const types: Readonly<Record<string, Typed>> = {
  text: { drawn: /<input[^>]*type="text"/, good: ['word', 'word'] },
  number: { drawn: /<input[^>]*type="number"/, good: ['7.5', 7.5], bad: 'seven' },
  date: { drawn: /<input[^>]*type="date"/, good: ['2026-02-28', '2026-02-28'], bad: '2026-02-30' },
  date_time: {
    drawn: /<input[^>]*type="datetime-local"/,
    good: ['2026-02-28T09:30', '2026-02-28T09:30:00.000Z'],
    bad: 'tomorrow',
  },
  email: { drawn: /<input[^>]*type="email"/, good: ['a@example.org', 'a@example.org'], bad: 'nowhere' },
  'e-mail': { drawn: /<input[^>]*type="email"/, good: ['b@example.org', 'b@example.org'], bad: 'a@b' },
  password: { drawn: /<input[^>]*type="password"/, good: ['geheim', 'geheim'] },
  area: { drawn: /<textarea/, good: ['one\r\ntwo', 'one\ntwo'] },
  choice: { drawn: /<select/, good: ['b', 'b'], bad: 'c', pins: { options } },
  choices: {
    drawn: /<input[^>]*type="checkbox"/,
    good: [
      ['a', 'b'],
      ['a', 'b'],
    ],
    bad: 'c',
    pins: { options },
  },
  check: { drawn: /<input[^>]*type="checkbox"/, good: ['on', true] },
  hidden: { drawn: /<input[^>]*type="hidden"/, good: ['kept', 'kept'] },
  auto: { drawn: /<input[^>]*type="text"/, good: ['plain', 'plain'] },
}
const names = Object.keys(types)
const fieldOf = (type: string) => type.replace('-', '_')

const drawsInputs: Scenario = async (fixture) => {
  await everyType(fixture)
  await takesFiles(fixture)
  await startsWith(fixture)
  await fromField(fixture)
  await refusesInputs(fixture)
}

/** One page with one input of each type: all good, and then each of them bad. */
async function everyType(fixture: ContractFixture): Promise<void> {
  const [url, kept] = [fixture.name(), fixture.name()]
  const inputs = names.map((type, at): [string, JsonObject] => {
    const above = at === 0 ? {} : { state: `@${fieldOf(names[at - 1] ?? '')}.state` }
    return [fieldOf(type), input({ field: `f_${fieldOf(type)}`, type, ...types[type]?.pins, ...above })]
  })
  await fixture.run({
    page: page(url),
    ...Object.fromEntries(inputs),
    form: form('@auto.state'),
    show: show('@form.state'),
    ...keeping(kept),
  })
  const visitor = stranger(fixture)
  const seen = await visitor.get(`/${url}`)
  const good: Record<string, string | readonly string[] | undefined> = {}
  const expected: Record<string, JsonValue | undefined> = {}
  for (const [type, { drawn, good: pair }] of Object.entries(types)) {
    const name = `f_${fieldOf(type)}`
    expect([type, seen.form('form').input(name)]).toEqual([type, expect.stringMatching(drawn)])
    good[name] = pair[0]
    expected[name] = pair[1]
  }
  expect(seen.text).toMatch(/F date time/)
  expect(seen.html).toMatch(/<option[^>]*value="a"[^>]*>a<.*<option[^>]*value="b"[^>]*>Bee</s)
  expect((await visitor.submit(seen, 'form', good)).status).toBe(303)
  const stored = await fixture.documents(kept)
  expect(stored.map(({ _meta, ...values }) => values)).toEqual([expected])
  for (const [type, { bad }] of Object.entries(types)) {
    if (bad === undefined) continue
    const refused = await visitor.submit(await visitor.get(`/${url}`), 'form', {
      ...good,
      [`f_${fieldOf(type)}`]: bad,
    })
    expect([type, refused.status, invalid(refused)]).toEqual([type, 422, [`f_${fieldOf(type)}`]])
  }
  expect(await fixture.documents(kept)).toHaveLength(1)
}

/** Names of the inputs beside which something is said to be wrong. */
const invalid = ({ html }: SeenPage): string[] =>
  [...html.matchAll(/<p class="error" id="[^"]*?(f_\w+)-error"/g)].map(([, name = '']) => name)

/** Where uploads are taken, a file is stored as an asset and its record is the value. */
async function takesFiles(fixture: ContractFixture): Promise<void> {
  const url = fixture.name()
  await fixture.run({
    page: page(url),
    file: input({ field: 'picture', type: 'file', label: 'A picture' }),
    form: form('@file.state'),
    show: show('@form.state'),
  })
  const seen = await stranger(fixture).get(`/${url}`)
  expect(seen.form('form').input('picture')).toMatch(/type="file"/)
  expect(seen.form('form').multipart).toBe(true)
}

/** `value` stands in it, `label` beside it; `required` refuses what is empty; options make a choice of an input. */
async function startsWith(fixture: ContractFixture): Promise<void> {
  const [url, kept] = [fixture.name(), fixture.name()]
  await fixture.run({
    page: page(url),
    cups: input({ field: 'cups', label: 'How many', type: 'number', value: 3, max: 10, required: true }),
    milk: input({ state: '@cups.state', field: 'milk', options: ['none', 'some'], value: 'some' }),
    note: input({ state: '@milk.state', field: 'first_note' }),
    when: input({ state: '@note.state', field: 'when', type: 'date', min: '', max: '2026-06-30' }),
    size: input({
      state: '@when.state',
      field: 'size',
      type: 'choice',
      options: [{ value: 3 }, true, { value: 'l', label: 4 }],
    }),
    form: form('@size.state'),
    show: show('@form.state'),
    ...keeping(kept),
  })
  const visitor = stranger(fixture)
  const seen = await visitor.get(`/${url}`)
  const cups = seen.form('form').input('cups')
  expect(cups).toMatch(/type="number"/)
  expect(cups).toMatch(/value="3"/)
  expect(cups).toMatch(/\brequired\b/)
  expect(seen.text).toMatch(/How many.*Milk.*First note/)
  expect(seen.form('form').input('first_note')).not.toMatch(/\brequired\b|value="/)
  expect(seen.form('form').fields).toContainEqual(['milk', 'some'])
  expect(seen.form('form').input('milk')).toMatch(/^<select/)
  expect(seen.form('form').input('when')).toMatch(/max="2026-06-30"/)
  expect(seen.form('form').input('when')).not.toMatch(/\bmin=/)
  const offered = [...seen.html.matchAll(/<option[^>]*value="(3|true|l)"[^>]*>(.*?)<\/option>/gs)]
  expect(offered.map(([, value, label]) => [value, label])).toEqual([
    ['3', '3'],
    ['true', 'true'],
    ['l', '4'],
  ])
  const refused = await visitor.submit(seen, 'form', { cups: '11' })
  expect(refused.status).toBe(422)
  expect(refused.form('form').input('cups')).toContain('value="11"')
  expect((await visitor.submit(refused, 'form', { cups: '' })).status).toBe(422)
  expect(await fixture.documents(kept)).toEqual([])
  await visitor.submit(refused, 'form', { cups: '4' })
  expect(await fixture.documents(kept)).toMatchObject([{ cups: 4, milk: 'some', first_note: null }])
}

/** A blueprint field of the storage says how the input is drawn and what fits. */
async function fromField(fixture: ContractFixture): Promise<void> {
  const [url, kept] = [fixture.name(), fixture.name()]
  await fixture.fill(kept, [])
  const rules = { choices: ['small', 'large'] }
  await fixture.manage('POST', '/blueprintfields', {
    name: 'size',
    type: 'string',
    storage: kept,
    validation_rules: rules,
  })
  await fixture.run({
    page: page(url),
    size: input({ field: 'size', storage: '@kept.storage' }),
    form: form('@size.state'),
    show: show('@form.state'),
    ...keeping(kept),
  })
  const visitor = stranger(fixture)
  const seen = await visitor.get(`/${url}`)
  expect(seen.html).toMatch(/<select[^>]*name="size".*small.*large/s)
  expect((await visitor.submit(seen, 'form', { size: 'huge' })).status).toBe(422)
  expect((await visitor.submit(await visitor.get(`/${url}`), 'form', { size: 'large' })).status).toBe(303)
  expect(await fixture.documents(kept)).toMatchObject([{ size: 'large' }])
}

async function refusesInputs(fixture: ContractFixture): Promise<void> {
  const with_ = (pins: JsonObject, url: string) => ({
    page: page(url),
    no: input(pins),
    form: form('@no.state'),
    show: show('@form.state'),
  })
  for (const pins of [{}, { field: 'a', type: 'slider' }])
    expect(await refused(fixture, with_(pins, fixture.name()))).toMatch(/field|type/)
  const wrong: readonly JsonObject[] = [
    { field: '_form' },
    { field: 'a..b' },
    { field: 'a', options: [{ label: 'no value' }] },
    { field: 'a', options: [['list']] },
    { field: 'a', options: Array.from({ length: 1001 }, (_, n) => n) },
  ]
  for (const pins of wrong) {
    const url = fixture.name()
    await fixture.run(with_(pins, url))
    expect([pins, (await stranger(fixture).get(`/${url}`)).status]).toEqual([pins, 500])
  }
}

export const scenarios: Scenarios = { state_input_dynamic: drawsInputs }
