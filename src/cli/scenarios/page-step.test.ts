/** The step `page` of a test: a person opens a page, fills in a form, presses a button or link, and is led on. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoinCommand } from '../../../test/recording-terminal.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { readPage } from './read-page.ts'

const html = `<!doctype html><title>Not seen</title><style>p{}</style>
<nav><a href="/a">Home</a><a href="/a">Home</a><a href="/b">Two</a><a href="/c">Two</a></nav>
<form method="post" action="/save" id="main"><input type="hidden" name="_csrf" value="x&amp;y">
<label for="t">Title <span>(optional)</span></label><input id="t" name="title" value="old">
<label>Kind *<select name="kind"><option value="">Any</option><option value="f">Food</option></select></label>
<label><input type="checkbox" name="urgent"> Urgent</label>
<textarea name="note" aria-label="Note">as it was</textarea><input name="off" disabled value="1"><input type="file" name="photo">
<button name="go" value="1">Save</button><button type="button">Help</button></form>
<button form="main" name="go" value="2">Save and new</button>
<table><tr><td>Milk<td><form method="post" action="/row" enctype="multipart/form-data"><button name="r" value="1">Done</button></form>
<tr><td>Bread<td><form method="post" action="/row"><button name="r" value="2">Done</button></form></table>
<a href="/find">Find</a><form action="/find"><input name="q"><button aria-label="Find"><svg><title>x</title></svg></button></form>`
const page = readPage(html)
const asItStands = [
  ['_csrf', 'x&y'],
  ['title', 'old'],
  ['kind', ''],
  ['note', 'as it was'],
]

describe('refused, with what there is', () => {
  test.each<[string, Parameters<typeof page.press>[1], string]>([
    ['Sav', {}, 'no button or link "Sav". It has: "Home", "Two", "Save", "Save and new", "Done", "Find".'],
    ['Help', {}, 'no button or link "Help"'],
    ['Done', {}, 'has 2 times "Done": say in row which one.'],
    ['Two', {}, 'has 2 times "Two"'],
    ['Done', { row: 'Eggs' }, 'No row with "Eggs" has "Done".'],
    [
      'Save',
      { fill: { Titel: 'x' } },
      'no input "Titel". It has: "Title", "Kind", "Urgent", "Note", "off", "photo".',
    ],
    ['Save', { fill: { Kind: 'Drink' } }, 'The list kind has no "Drink". It has: "Any", "Food".'],
    ['Save', { fill: { photo: 'x' } }, 'takes a file: { "file"'],
    ['Save', { fill: { photo: { file: 'a.png', text: '' } } }, 'The form sends no files'],
    ['Save', { fill: { Title: { file: 'a.png', text: '' } } }, 'The input title takes no file'],
  ])('%s %j', (words, options, message) => {
    expect(() => page.press(words, options)).toThrow(message)
  })
})

describe('what is sent', () => {
  test.each<[string, Parameters<typeof page.press>[1], JsonObject]>([
    ['Home', {}, { kind: 'link', href: '/a' }],
    [
      'Save',
      {},
      { method: 'POST', action: '/save', isMultipart: false, fields: [...asItStands, ['go', '1']] },
    ],
    ['Save and new', {}, { fields: [...asItStands, ['go', '2']] }],
    [
      'Save',
      { fill: { Title: 'new', Kind: 'Food', Urgent: true, note: '' } },
      {
        fields: [
          ['_csrf', 'x&y'],
          ['title', 'new'],
          ['kind', 'f'],
          ['urgent', 'on'],
          ['note', ''],
          ['go', '1'],
        ],
      },
    ],
    ['Done', { row: 'Milk' }, { action: '/row', isMultipart: true, fields: [['r', '1']] }],
    ['Done', { row: 'Bread' }, { action: '/row', isMultipart: false, fields: [['r', '2']] }],
    // A link has the same words: with what is filled in the button is meant.
    ['Find', { fill: { q: 'a b' } }, { method: 'GET', action: '/find', fields: [['q', 'a b']] }],
  ])('%s %j', (words, options, sent) => {
    expect(page.press(words, options)).toMatchObject(sent)
  })

  test('the text is what is seen', () => {
    expect(page.text).toBe(
      'Home Home Two Two Title (optional) Kind * Any Food Urgent as it was Save Help Save and new Milk Done Bread Done Find',
    )
  })
})

describe('on pages of an application', () => {
  const blueprint: JsonObject = {
    name: 'Desk',
    groups: [{ name: 'desk', scopes: ['desk'] }],
    blocks: {
      desk: { type: 'state_page', in: { url: 'desk', title: 'Desk' }, scopes: ['desk'] },
      form: {
        type: 'state_form',
        in: {
          form_id: 'note',
          inputs: [
            { field: 'title', label: 'Title', required: true },
            { field: 'urgent', label: 'Urgent', type: 'check' },
          ],
          submit_label: 'Add',
        },
      },
      table: {
        type: 'state_advanced_datatable',
        in: {
          state: '@form.state',
          storage: 'notes',
          columns: ['title'],
          actions: [{ name: 'drop', label: 'Drop' }],
        },
      },
      shown: { type: 'state_render_page', in: { flow: '@desk.flow', state: '@table.state' } },
      create: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@form.submit', storage: 'notes', set: '=form.values' },
      },
      drop: {
        type: 'function_remove_document',
        in: { flow: '@table.row_action', storage: 'notes', guid: '@table.guid' },
      },
    },
  }
  const input = { users: [{ username: 'ann', groups: ['desk'] }, { username: 'eve' }] }
  const desk = { page: '/desk', as: 'ann' }
  const add = (title: string, expected: JsonObject) => ({
    ...desk,
    fill: { Title: title, Urgent: true },
    press: 'Add',
    expect: expected,
  })
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quoin-test-'))
    await writeFile(join(folder, 'desk.blueprint.json'), JSON.stringify(blueprint))
  })
  afterAll(() => rm(folder, { recursive: true }))

  async function run(...steps: JsonValue[]) {
    await writeFile(join(folder, 'one.test.json'), JSON.stringify({ name: 'Pages', given: input, steps }))
    return quoinCommand(['test', folder], {})
  }

  test('a form is filled in and sent, and a button of a row pressed', async () => {
    const all = [{ title: 'Milk', urgent: true }, { title: 'Bread' }]
    const end = await run(
      { ...desk, expect: { status: 200, address: '/desk', documents: { notes: 0 } } },
      add('Milk', { status: 200, body: '=contains(value, "Milk")', documents: { notes: 1 } }),
      add('Bread', { documents: { notes: all } }),
      // What is missing is said on the page, and nothing is stored.
      add('', { status: 422, body: '=contains(value, "Title")', documents: { notes: 2 } }),
      { ...desk, press: 'Drop', row: 'Milk', expect: { documents: { notes: [{ title: 'Bread' }] } } },
    )
    expect([end.code, end.printed]).toEqual([0, expect.stringContaining('1 tests, 0 failed')])
  })

  test.each<[string, JsonObject, string]>([
    [
      'who may not see it',
      { page: '/desk', as: 'eve', expect: { status: 200 } },
      'step 1, page /desk: status: expected 200, got 40',
    ],
    [
      'a button that is not there',
      { ...desk, press: 'Remove' },
      'step 1, page /desk: The page has no button or link "Remove".',
    ],
    [
      'an input that is not there',
      { ...desk, fill: { Text: 'x' }, press: 'Add' },
      'The form has no input "Text". It has: "Title", "Urgent".',
    ],
    ['what is filled in and not sent', { ...desk, fill: { Title: 'x' } }, 'fill needs press'],
    [
      'a storage that is not there',
      { ...desk, expect: { documents: { note: 0 } } },
      'there is no storage note. There are: notes',
    ],
  ])('a test fails for %s', async (_what, step, message) => {
    const end = await run(step)
    expect([end.code, end.printed + end.complained]).toEqual([1, expect.stringContaining(message)])
  })
})
