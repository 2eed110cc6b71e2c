import { expect, test } from 'vitest'
import tasks from '../../../../examples/tasks/blueprints/tasks.json' with { type: 'json' }
import { describeBlock } from '../../../blocks/describe-block.ts'
import { findBlocks } from '../../../blocks/load-blocks.ts'
import { importBlueprint } from '../../../flows/blueprints/blueprint-file.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { catalogueOf } from './block-description.ts'
import { setExpression } from './changes/flow-changes.ts'
import { changeBlock, type Flow } from './flow.ts'
import { type OutlineItem, outlineOf, shownItems } from './outline.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)

function flowOf(blocks: JsonObject): Flow {
  const ids = Object.keys(blocks)
  let next = 0
  const imported = importBlueprint({ name: 'test', blocks }, () => ids[next++] ?? '')
  return new Map(imported.blocks.map(({ guid, ...content }) => [guid, content]))
}

/** Blocks, branches and references as indented lines; pins only where something is in them. What is folded is not told. */
function lines(items: readonly OutlineItem[], depth = 0): string[] {
  return items.flatMap((item) =>
    (item.kind === 'pin' && item.detail === '') || item.kind === 'more'
      ? []
      : [
          `${'  '.repeat(depth)}${item.kind === 'pin' ? '.' : ''}${item.label}${item.kind === 'pin' ? ` ${item.detail}` : ''}`,
          ...lines(item.children, depth + 1),
        ],
  )
}

test('steps stand in a row, pins hold what gives their value, other ways out are branches', () => {
  const flow = flowOf({
    store: { type: 'storage', fields: { storage: 'tasks' } },
    on: { type: 'on_startup_register_uri_get', in: { uri: 'tasks/{guid}' } },
    get: { type: 'function_get_document', in: { flow: '@on.flow', storage: '@store.storage', guid: 'x' } },
    found: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: '@get.document' } },
    missing: {
      type: 'httpconnection_set_json',
      title: 'Not found',
      in: { flow: '@get.not_found', code: 404 },
    },
  })
  expect(lines(outlineOf(flow, catalogue))).toEqual([
    'GET /tasks/{guid}',
    '  .uri “tasks/{guid}”',
    '  Get x from tasks',
    '    .storage from tasks · storage',
    '      tasks',
    '    .guid “x”',
    '    on not_found',
    '      Not found',
    '        .code 404',
    '  Reply get.document',
    '    .value from Get x from tasks · document',
  ])
})

test('a block is named by what it does and by its name, and pins that nothing uses are folded', () => {
  const flow = flowOf({
    on: { type: 'on_startup_register_uri_get', in: { uri: 'tasks' } },
    find: { type: 'function_search', in: { flow: '@on.flow', storage: 'tasks', limit: 5 } },
  })
  const [trigger] = outlineOf(flow, catalogue)
  const find = trigger?.children.find(({ block, kind }) => block === 'find' && kind === 'block')
  expect([find?.label, find?.detail]).toEqual(['Search tasks', 'Search documents · find'])
  const rest = find?.children.find(({ kind }) => kind === 'more')
  expect(find?.children.map(({ kind, pin }) => `${kind} ${pin}`)).toEqual([
    'pin storage',
    'pin limit',
    'more ',
  ])
  expect(rest?.label).toBe(`${rest?.children.length} unused pins`)
  expect(rest?.children.map(({ pin, id }) => [pin, id])).toContainEqual(['query', 'on/find.query'])
  // Used, it stands where the others do, and its row is the same one.
  const used = outlineOf(setExpression(flow, 'find', 'query', 'true'), catalogue)[0]?.children.find(
    ({ block, kind }) => block === 'find' && kind === 'block',
  )
  expect(used?.children.map(({ id }) => id)).toContain('on/find.query')
})

test('what hangs together with no trigger comes last, and a step of two ways is told once', () => {
  const flow = flowOf({
    on: { type: 'on_startup_register_uri_get', in: { uri: 'a' } },
    branch: { type: 'branch', in: { flow: '@on.flow' } },
    log: { type: 'function_console_log', in: { flow: ['@branch.true', '@branch.false'] } },
    alone: { type: 'number_default', title: 'Alone' },
  })
  expect(lines(outlineOf(flow, catalogue)).slice(2)).toEqual([
    '  Branch',
    '    on true',
    '      Log',
    '    on false',
    '      continues with Log',
    'Not connected',
    '  Alone',
  ])
})

test('a value that only an expression uses is told at its pin', () => {
  const flow = flowOf({
    limit: { type: 'number_default', title: 'Page size', in: { value: 20 } },
    on: { type: 'on_startup_register_uri_get', in: { uri: 'a' } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow' } },
  })
  const named = changeBlock(flow, 'limit', { name: 'limit' })
  expect(lines(outlineOf(setExpression(named, 'reply', 'value', 'limit.number * 2'), catalogue))).toEqual([
    'GET /a',
    '  .uri “a”',
    '  Reply limit.number * 2',
    '    .value = limit.number * 2',
    '      Page size',
    '        .value 20',
  ])
})

test('a circle of steps, or of values, ends', () => {
  const steps = flowOf({
    a: { type: 'function_console_log', in: { flow: '@b.flow' } },
    b: { type: 'function_console_log', in: { flow: '@a.flow' } },
    x: { type: 'value_default', in: { value: '@y.value' } },
    y: { type: 'value_default', in: { value: '@x.value' } },
    z: { type: 'value_default' },
  })
  const named = changeBlock(steps, 'z', { name: 'z' })
  expect(lines(outlineOf(setExpression(named, 'z', 'value', 'z.value'), catalogue)).length).toBeLessThan(20)
  expect(lines(outlineOf(steps, catalogue)).length).toBeLessThan(20)
})

test('every block of the tasks example is in its outline, and no row has the id of another', () => {
  const flow = flowOf(tasks.blocks)
  const items = outlineOf(flow, catalogue)
  const everything = (list: readonly OutlineItem[]): OutlineItem[] =>
    list.flatMap((item) => [item, ...everything(item.children)])
  const all = everything(items)
  expect(new Set(all.map(({ block }) => block).filter(Boolean))).toEqual(new Set(flow.keys()))
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  expect(items.map(({ kind }) => kind)).not.toContain('group')
  const open = new Set(items.map(({ id }) => id))
  const rows = shownItems(items, open)
  expect(rows.filter(({ level }) => level === 1)).toHaveLength(items.length)
  expect(rows.length).toBeGreaterThan(items.length)
})
