import { describe, expect, test } from 'vitest'
import { describeBlock } from '../../../blocks/describe-block.ts'
import { findBlocks } from '../../../blocks/load-blocks.ts'
import { aggregateColumns } from '../../../blocks/storage/aggregate-pins.ts'
import { importBlueprint } from '../../../flows/blueprints/blueprint-file.ts'
import { emptyContent } from '../../../shared/empty-content.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { catalogueOf } from '../model/block-description.ts'
import { setLiteral } from '../model/changes/flow-changes.ts'
import { type Flow, inPinOf, wireId, wiresOf } from '../model/flow.ts'
import { sizeOf } from '../model/places/node-geometry.ts'
import { canGroup, canMeasure, firstFigure, type KnownField, titleOf } from './figure-fields.ts'
import { columnsOf, type FigureDraft, missingOf, readFigure, storageNear, withFigure } from './page-figure.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)

function flowOf(blocks: JsonObject): Flow {
  const ids = Object.keys(blocks)
  let next = 0
  const imported = importBlueprint({ name: 'test', blocks }, () => ids[next++] ?? '')
  return new Map(imported.blocks.map(({ guid, ...content }) => [guid, content]))
}

const page = flowOf({
  page: { type: 'state_page', in: { url: 'contracts', title: 'Contracts' } },
  head: { type: 'state_h1', in: { text: 'Contracts' } },
  chart: { type: 'state_chart', in: { state: '@head.state' } },
  card: { type: 'state_card', in: { state: '@chart.state' } },
  table: {
    type: 'state_advanced_datatable',
    in: { state: '@card.state', storage: 'contracts', columns: ['start'] },
  },
  show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@table.state' } },
})
const draft: FigureDraft = {
  ...{
    title: 'Amounts',
    storage: 'contracts',
    group: 'start',
    part: 'month',
    figure: 'sum',
    field: 'amount',
  },
  type: 'bar',
}
const wires = (flow: Flow | undefined) => (flow ? wiresOf(flow).map(wireId) : [])
const ids = () => {
  let made = 0
  return () => `new${++made}`
}
const set = (flow: Flow, guid: string, more: Partial<FigureDraft> = {}, isMoney = true) =>
  withFigure(flow, catalogue, guid, { ...draft, ...more, isMoney }, ids())
const values = (flow: Flow | undefined, guid: string) =>
  Object.fromEntries(
    (flow?.get(guid)?.in_pins ?? []).flatMap(({ id, value }) => (value === undefined ? [] : [[id, value]])),
  )

describe('a chart', () => {
  const made = set(page, 'chart')

  test('gets a block that aggregates before the page is shown, as the user, and its rows', () => {
    expect(wires(made)).toEqual(
      expect.arrayContaining(['page|flow>new1|flow', 'new1|flow>show|flow', 'new1|rows>chart|items']),
    )
    expect(wires(made)).not.toContain('page|flow>show|flow')
    expect(made?.get('new1')).toMatchObject({ type: 'function_aggregate', fields: { as: 'user' } })
    expect(values(made, 'new1')).toEqual({
      ...{ storage: 'contracts', group: [{ field: 'start', part: 'month' }], values: [{ sum: 'amount' }] },
    })
  })

  test('shows the columns that result, in the currency of the field', () => {
    expect(values(made, 'chart')).toEqual({
      ...{ title: 'Amounts', type: 'bar', label: 'month', values: ['sum_amount'] },
      ...{ kind: 'currency', currency: 'contracts.amount' },
    })
    const { currency, kind } = values(set(page, 'chart', { figure: 'count' }, false), 'chart')
    expect([currency, kind]).toEqual([undefined, undefined])
  })

  test('changes its own block when it is set again, and leaves one that others use', () => {
    const again = made && set(made, 'chart', { part: 'year', figure: 'count' }, false)
    expect(again?.size).toBe(made?.size)
    expect(values(again, 'new1')).toMatchObject({
      group: [{ field: 'start', part: 'year' }],
      values: [{ count: '*' }],
    })
    expect(values(again, 'chart')).not.toHaveProperty('currency')
    const other = {
      ...emptyContent,
      type: 'state_chart',
      in_pins: [{ id: 'items', from: [{ block: 'new1', pin: 'rows' }] }],
    }
    const shared = made && new Map(made).set('other', other)
    let next = 1
    const split =
      shared &&
      withFigure(shared, catalogue, 'chart', { ...draft, part: 'year', isMoney: true }, () => `new${++next}`)
    expect(values(split, 'new1')).toMatchObject({ group: [{ field: 'start', part: 'month' }] })
    expect(wires(split)).toContain('new2|rows>chart|items')
    expect(values(split, 'chart').chart_id).toBe('sum_amount')
  })

  test('has its block beside it, and not on it', () => {
    const at = (guid: string) => ({
      ...made?.get(guid)?.position,
      ...(made && sizeOf(made, catalogue, guid)),
    })
    const [one, other] = [at('new1'), at('chart')]
    const apart = (a = 0, size = 0, b = 0) => a + size <= b
    expect(
      [
        apart(one.x, one.width, other.x),
        apart(other.x, other.width, one.x),
        apart(one.y, one.height, other.y),
        apart(other.y, other.height, one.y),
      ].includes(true),
    ).toBe(true)
  })

  test('keeps further groups, values and names that the lists cannot say', () => {
    const group = [{ field: 'start', part: 'month' }, 'kind']
    const many = [{ sum: 'amount', as: 'total' }, { avg: 'amount' }]
    const withAll = (flow: Flow) => {
      const grouped = setLiteral(setLiteral(flow, 'new1', 'group', group), 'new1', 'values', many)
      return setLiteral(grouped, 'chart', 'values', ['total', 'avg_amount'])
    }
    const rich = made && withAll(made)
    const renamed = rich && set(rich, 'chart', { title: 'Again' })
    expect(values(renamed, 'new1')).toMatchObject({ group, values: many })
    expect(values(renamed, 'chart')).toMatchObject({ title: 'Again', values: ['total', 'avg_amount'] })
    const counted = rich && set(rich, 'chart', { figure: 'count', part: 'year' }, false)
    expect(values(counted, 'new1')).toMatchObject({
      group: [{ field: 'start', part: 'year' }, 'kind'],
      values: [{ count: '*' }, { avg: 'amount' }],
    })
    expect(values(counted, 'chart').values).toEqual(['count', 'avg_amount'])
    // Fields of another storage are others.
    const moved = rich && set(rich, 'chart', { storage: 'orders' })
    expect(values(moved, 'new1').values).toEqual([{ sum: 'amount' }])
  })

  test('is read again as it was set', () => {
    expect(made && readFigure(made, 'chart')).toEqual(draft)
    expect(readFigure(page, 'chart')).toEqual({})
  })
})

test('a card shows the figure of all documents, and 0 of none', () => {
  const made = set(page, 'card', { group: '', part: '' })
  expect(values(made, 'new1')).toEqual({ storage: 'contracts', values: [{ sum: 'amount' }] })
  const figure = inPinOf(made?.get('card'), 'figure')
  expect(figure?.expression).toMatch(/^\w+\.rows\[0\]\.sum_amount \?\? 0$/)
  expect(Object.values(figure?.refs ?? {})).toEqual(['new1'])
  expect(values(made, 'card')).toMatchObject({ kind: 'currency', currency: 'contracts.amount' })
  expect(made && readFigure(made, 'card')).toMatchObject({
    storage: 'contracts',
    figure: 'sum',
    field: 'amount',
  })
})

test('a card that counts shows its number as the visitor writes numbers, 10,692', () => {
  const made = set(page, 'card', { group: '', part: '', figure: 'count' }, false)
  expect(values(made, 'card')).toMatchObject({ kind: 'number' })
  expect(values(made, 'card')).not.toHaveProperty('currency')
})

test('every way that leads to the page leads through the block that aggregates', () => {
  const two = flowOf({
    page: { type: 'state_page', in: { url: 'a', title: 'A' } },
    branch: { type: 'branch', in: { flow: '@page.flow', condition: true } },
    chart: { type: 'state_chart', in: {} },
    show: {
      type: 'state_render_page',
      in: { flow: ['@branch.true', '@branch.false'], state: '@chart.state' },
    },
  })
  const found = wires(set(two, 'chart')).filter((wire) => wire.endsWith('|flow'))
  expect(found).toEqual(
    expect.arrayContaining(['branch|true>new1|flow', 'branch|false>new1|flow', 'new1|flow>show|flow']),
  )
  expect(found.filter((wire) => wire.endsWith('>show|flow'))).toEqual(['new1|flow>show|flow'])
})

test('a part that leads to no page is left as it is', () => {
  const loose = new Map(page).set('loose', { ...emptyContent, type: 'state_chart' })
  expect(set(loose, 'loose')).toBeUndefined()
})

test.each<[Partial<FigureDraft>]>([
  [{}],
  [{ part: '', group: 'address.city' }],
  [{ figure: 'count', field: '' }],
  [{ figure: 'average', field: 'price.net' }],
  [{ figure: 'count_distinct', field: 'customer' }],
])('the columns of %j are those that the block gives', (more) => {
  const one = { ...draft, ...more }
  const { label, value } = columnsOf(one)
  const group = one.part === '' ? one.group : { field: one.group, part: one.part }
  const input = [{ [one.figure]: one.figure === 'count' ? '*' : one.field }]
  expect(
    aggregateColumns({ group: [group], values: input, order: undefined }).map(({ name }) => name),
  ).toEqual([label, value])
})

describe('what is offered', () => {
  const field = (name: string, type: string, rules = {}): KnownField => ({
    name,
    type,
    label: '',
    validation_rules: rules,
  })
  const fields = [
    ...[field('title', 'string'), field('scan', 'file'), field('start', 'day'), field('count', 'integer')],
    field('amount', 'decimal', { currency: 'EUR' }),
  ]

  test('amounts by month come first, and the number of documents where there is neither', () => {
    expect(firstFigure(fields, true)).toEqual({
      group: 'start',
      part: 'month',
      figure: 'sum',
      field: 'amount',
    })
    expect(firstFigure(fields, false)).toEqual({ group: '', part: '', figure: 'sum', field: 'amount' })
    expect(firstFigure([field('title', 'string')], true)).toMatchObject({ group: 'title', figure: 'count' })
    expect(titleOf({ ...draft, title: '' }, fields)).toBe('Sum of amount by month')
  })

  test('only fields that fit', () => {
    expect(fields.filter(canGroup).map(({ name }) => name)).toEqual(['title', 'start', 'count', 'amount'])
    expect(fields.filter((one) => canMeasure('sum', one)).map(({ name }) => name)).toEqual([
      'count',
      'amount',
    ])
  })

  test('what is missing is named', () => {
    expect(missingOf({ ...draft, storage: '', group: '', field: '' }, true)).toEqual([
      'storage',
      'group',
      'field',
    ])
    expect(missingOf({ ...draft, group: '', figure: 'count', field: '' }, false)).toEqual([])
  })

  test('the storage of the page', () => {
    expect(storageNear(page, 'chart')).toBe('contracts')
    expect(storageNear(new Map(), 'chart')).toBe('')
  })
})
