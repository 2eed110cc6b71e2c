import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FlowBlocks, type FlowFixture, openFlowFixture } from '../../../../test/run-flow.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
})
afterAll(() => fixture.close())

const get = { type: 'on_startup_register_uri_get', in: { uri: 'a' } }
const post = { type: 'on_startup_register_uri_post', in: { uri: 'a' } }
const page = { type: 'state_page', in: { url: 'p' } }
const store = { type: 'storage', fields: { storage: 'goods' } }
const reply = { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: 1 } }
const show = { type: 'state_render_page', in: { flow: '@page.flow', state: '@form.state' } }
const form = { type: 'state_form', in: { form_id: 'f' } }
const log = (flow: string) => ({ type: 'function_console_log', in: { flow, value: 'x' } })
const returned = { type: 'function_return', in: { flow: '@fn.flow', value: 1 } }

const create = (flow: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: '@store.storage', set: '={ a: 1 }' },
})
const remove = (flow: string) => ({
  type: 'function_remove_document',
  in: { flow, storage: '@store.storage', guid: 'x' },
})
const staff = { ...post, scopes: ['*loggedin'] }
const find = (flow: string, storage = 'goods') => ({ type: 'function_search', in: { flow, storage } })
const ask = (flow: string) => ({ type: 'http_request', in: { flow, url: 'https://example.com/' } })
const update = (flow: string, condition?: string) => ({
  type: 'function_update_document_mutations',
  in: {
    flow,
    storage: 'goods',
    guid: 'x',
    set: '={ a: 1 }',
    ...(condition !== undefined && { if: condition }),
  },
})
const done = (flow: string) => ({ type: 'httpconnection_set_json', in: { flow, value: 1 } })
const fn = (name: string, parameters: { id: string; type: string }[] = []) => ({
  type: 'trigger_custom_function',
  fields: { name },
  out: parameters,
})
const call = (flow: string, name: string, tags?: string) => ({
  type: 'function_custom_execute',
  in: { flow, function: name, ...(tags !== undefined && { tags }) },
  fields: { parameters: ['tags'] },
})
const page2 = (button: Record<string, unknown>, more: FlowBlocks = {}): FlowBlocks => ({
  page,
  show,
  form: { type: 'state_form', in: { form_id: 'f', content: '@button.state' } },
  button: { type: 'state_button', in: { label: 'Go', ...button } },
  ...more,
})

type Named = readonly [block: string, pin: string | undefined, message: RegExp]

test.each<[string, FlowBlocks, Named[]]>([
  // Triggers that lead nowhere.
  ['an endpoint without a block', { get }, [['get', 'flow', /leads to no block/]]],
  ['an endpoint with a reply', { get, reply }, []],
  ['a custom function without a block', { fn: fn('f') }, [['fn', 'flow', /leads to no block/]]],
  ['a custom function that returns', { fn: fn('f'), return: returned }, []],

  // Parameters.
  [
    'a parameter that is nearly one of the address',
    {
      get: { ...get, in: { uri: 'a/{item}' } },
      reply: { ...reply, in: { ...reply.in, value: '=params.itme' } },
    },
    [['reply', 'value', /names no parameter itme. Did you mean item\? \(column 1\)/]],
  ],
  [
    'a parameter that is nearly one of the schema',
    {
      get: { ...get, fields: { schema: [{ name: 'limit', type: 'number' }] } },
      reply: { ...reply, in: { ...reply.in, value: '=[params.limit, params.lmit]' } },
    },
    [['reply', 'value', /names no parameter lmit. Did you mean limit\?/]],
  ],
  [
    'a parameter that is like none',
    {
      get: { ...get, in: { uri: 'a/{item}' } },
      reply: { ...reply, in: { ...reply.in, value: '=params.page' } },
    },
    [],
  ],

  // Expressions that are not calculated.
  [
    'an expression inside a list or an object',
    {
      get,
      reply: { ...reply, in: { ...reply.in, value: { a: [{ b: '=params.page + 1' }] } } },
    },
    [
      [
        'reply',
        'value',
        /contains the text "=params.page \+ 1", which is not calculated: an expression is the whole pin/,
      ],
    ],
  ],
  [
    'texts that only begin with =',
    { get, reply: { ...reply, in: { ...reply.in, value: ['=', '==', '= (', '=>', { format: '=doc.a' }] } } },
    [],
  ],

  // Blocks that nothing reaches.
  [
    'a flow block without a wire',
    { get, reply, lost: { type: 'function_console_log', in: { value: 'x' } } },
    [['lost', undefined, /No trigger leads to this block/]],
  ],
  [
    'the first of a chain, and the values that only it reads',
    {
      get,
      reply,
      store,
      lost: { ...create(''), in: { storage: '@store.storage', set: '={ a: 1 }' } },
      more: log('@lost.flow'),
    },
    [['lost', undefined, /No trigger leads/]],
  ],
  [
    'the first of a circle',
    { get, reply, one: log('@two.flow'), two: log('@one.flow') },
    [['one', undefined, /No trigger leads/]],
  ],
  ['a value that is not wired', { get, reply, store }, [['store', undefined, /No block that runs uses/]]],
  [
    'a value that is wired',
    { get, store, make: create('@get.flow') },
    [['get', undefined, /creates documents/]],
  ],
  [
    'a value that only an expression uses',
    {
      get,
      sum: { type: 'number_sum', in: { array: '=[1, 2]' } },
      reply: { ...reply, in: { flow: '@get.flow', value: '=sum.number + 1' } },
    },
    [],
  ],
  [
    'blocks behind a way',
    {
      get,
      store,
      find: {
        type: 'function_get_document',
        in: { flow: '@get.flow', storage: '@store.storage', guid: 'x' },
      },
      log: log('@find.not_found'),
    },
    [],
  ],
  ['blocks behind an event of a page', { page, show, form, log: log('@form.submit') }, []],

  // Forms and buttons without a way.
  ['a form without a way', { page, show, form }, [['form', 'submit', /submits this form/]]],
  ['a form whose button has a way', page2({}, { log: log('@button.click') }), []],
  ['a form with a button of no way', page2({}), [['form', 'submit', /submits this form/]]],
  [
    'a button for an action without a way',
    page2({ kind: 'action' }, { log: log('@form.submit') }),
    [['button', 'click', /clicks this button/]],
  ],
  ['a button that is a link', page2({ kind: 'link', url: '/x' }, { log: log('@form.submit') }), []],
  [
    'a form that is not shown',
    { page, show: { ...show, in: { flow: '@page.flow' } }, form },
    [['form', undefined, /No block that runs/]],
  ],

  // Endpoints that require no access and write.
  [
    'no scope and a write',
    { post, store, make: create('@post.flow') },
    [['post', undefined, /^POST a requires no access.*creates documents/]],
  ],
  ['*public and a write', { post: { ...post, scopes: ['*public'] }, store, make: create('@post.flow') }, []],
  [
    'a scope and a write',
    { post: { ...post, scopes: ['*loggedin'] }, store, make: create('@post.flow') },
    [],
  ],
  ['no scope and a read', { get, reply }, []],
  [
    'a write after the reply, and behind a block that only reads',
    {
      post,
      store,
      reply: { ...reply, in: { flow: '@post.flow', value: 1 } },
      log: log('@reply.flow'),
      gone: remove('@log.flow'),
    },
    [['post', undefined, /removes documents \(Remove document\)/]],
  ],
  [
    'a write in a custom function that a function calls',
    {
      post,
      call: call('@post.flow', 'outer'),
      outer: fn('outer'),
      inner: fn('inner'),
      again: call('@outer.flow', 'inner'),
      store,
      make: create('@inner.flow'),
    },
    [['post', undefined, /creates documents/]],
  ],
  [
    'a function that the endpoint does not call',
    { get, reply, inner: fn('inner'), store, make: create('@inner.flow') },
    [],
  ],
  ['a page that anyone may open', { page, show, form, store, make: create('@form.submit') }, []],

  // Lists where text is wanted.
  [
    'a list as the parameter of a function',
    {
      get,
      call: call('@get.flow', 'f', '=[1, 2]'),
      fn: fn('f', [{ id: 'tags', type: 'value' }]),
      return: returned,
    },
    [['call', 'tags', /takes a text as tags, and tags is a list/]],
  ],
  [
    'a list as a parameter that is a list',
    {
      get,
      call: call('@get.flow', 'f', '=[1, 2]'),
      fn: fn('f', [{ id: 'tags', type: 'array' }]),
      return: returned,
    },
    [],
  ],
  [
    'a list as a text body',
    {
      get,
      out: {
        type: 'reply',
        in: { flow: '@get.flow', value: '=split("a,b", ",")' },
        fields: { kind: 'text' },
      },
    },
    [['out', 'value', /takes a text, and value is a list/]],
  ],
  [
    'a list as a JSON body',
    { get, out: { type: 'reply', in: { flow: '@get.flow', value: '=split("a,b", ",")' } } },
    [],
  ],
  [
    'an element of a list as a text body',
    {
      get,
      out: {
        type: 'reply',
        in: { flow: '@get.flow', value: '=split("a,b", ",")[0]' },
        fields: { kind: 'text' },
      },
    },
    [],
  ],

  // What was read before a call, and a write behind it.
  [
    'a document is created by what was searched before a call',
    {
      post: staff,
      find: find('@post.flow'),
      ask: ask('@find.flow'),
      make: create('@ask.flow'),
      store,
      reply: done('@make.flow'),
    },
    [['make', undefined, /reads goods before "HTTP request".*function_upsert_document.*read again/]],
  ],
  [
    'a document is updated without if by what was read before a call, over other blocks',
    {
      ...{
        post: staff,
        find: find('@post.flow'),
        log1: log('@find.flow'),
        ask: ask('@log1.flow'),
        log2: log('@ask.flow'),
      },
      ...{ write: update('@log2.flow'), reply: done('@write.flow') },
    },
    [['write', undefined, /Decide with if in this block/]],
  ],
  [
    'a schedule whose flow reads planned_at, without catch_up',
    {
      tick: { type: 'schedule_repeating_event', in: { cron: '0 8 * * 1-5' } },
      keep: {
        ...create('@tick.flow'),
        in: { flow: '@tick.flow', storage: 'goods', set: '={ at: tick.planned_at }' },
      },
    },
    [['tick', 'catch_up', /a day that matters may be lost/]],
  ],
  [
    'a schedule that says which missed times are started, and one whose flow does not look at them',
    {
      tick: { type: 'schedule_repeating_event', in: { cron: '0 8 * * 1-5', catch_up: 'last' } },
      keep: {
        ...create('@tick.flow'),
        in: { flow: '@tick.flow', storage: 'goods', set: '={ at: tick.planned_at }' },
      },
      other: { type: 'schedule_repeating_event', in: { cron: '0 8 * * 1-5' } },
      kept: { ...create('@other.flow'), in: { flow: '@other.flow', storage: 'goods', set: '={ a: 1 }' } },
    },
    [],
  ],
  [
    'an update that decides with if',
    {
      post: staff,
      find: find('@post.flow'),
      ask: ask('@find.flow'),
      write: update('@ask.flow', '=doc.a == 1'),
      reply: done('@write.flow'),
    },
    [],
  ],
  [
    'a document that is read again behind the call',
    {
      post: staff,
      find: find('@post.flow'),
      ask: ask('@find.flow'),
      again: find('@ask.flow'),
      write: update('@again.flow'),
      reply: done('@write.flow'),
    },
    [],
  ],
  [
    'of two storages the other one is read again',
    {
      post: staff,
      find: find('@post.flow'),
      ask: ask('@find.flow'),
      other: find('@ask.flow', 'customers'),
      write: update('@other.flow'),
      reply: done('@write.flow'),
    },
    [['write', undefined, /reads goods before/]],
  ],
  [
    'another storage is read before the call',
    {
      post: staff,
      other: find('@post.flow', 'customers'),
      ask: ask('@other.flow'),
      make: create('@ask.flow'),
      store,
      reply: done('@make.flow'),
    },
    [],
  ],
  [
    'the write comes before the call',
    {
      post: staff,
      find: find('@post.flow'),
      make: create('@find.flow'),
      ask: ask('@make.flow'),
      store,
      reply: done('@ask.flow'),
    },
    [],
  ],
])('%s', (_what, blocks, expected) => {
  const { blueprint, problems } = fixture.compile(blocks)
  expect(problems).toEqual([])
  expect(blueprint?.notes.map(({ block, pin, level }) => [block, pin, level])).toEqual(
    expected.map(([block, pin]) => [block, pin, 'warn']),
  )
  expected.forEach(([, , message], at) => {
    expect(blueprint?.notes[at]?.message).toMatch(message)
  })
})

test('parts of a page that need a browser are named where they lead to a mail', () => {
  const button = (more: Record<string, unknown>) => ({
    type: 'state_button',
    in: { label: 'Go', url: '/', ...more },
  })
  const blocks: FlowBlocks = {
    get,
    reply,
    mail: {
      type: 'send_mail',
      in: { flow: '@get.flow', to: 'a@example.com', subject: 'a', state: '@card.state' },
    },
    card: { type: 'state_card', in: { state: '@link.state', content: '@form.state' } },
    form: { ...form, in: { form_id: 'f', state: '@send.state' } },
    send: button({ kind: 'submit' }),
    link: button({ kind: 'link', state: '@chosen.state' }),
    chosen: button({ kind: '@kind.value' }),
    kind: { type: 'value_default', in: { default: 'link' } },
    page,
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@dialog.state' } },
    dialog: { type: 'state_modal', in: { modal_id: 'm', label: 'a' } },
  }
  const { blueprint, problems } = fixture.compile(blocks)
  expect(problems).toEqual([])
  const notes = blueprint?.notes.filter(({ message }) => message.includes('a mail, which cannot show it'))
  expect(notes?.map(({ block }) => block).sort()).toEqual(['form', 'send'])
})

test('a mail needs one of text, html and state', () => {
  const mailWith = (more: Record<string, unknown>): FlowBlocks => ({
    get,
    mail: { type: 'send_mail', in: { flow: '@get.flow', to: 'a@example.com', subject: 'a', ...more } },
    title: { type: 'state_h1', in: { text: 'a' } },
  })
  expect(fixture.compile(mailWith({})).problems).toMatchObject([
    {
      block: 'mail',
      pin: 'html',
      message: 'html or state or text is needed: give one of them a value.',
    },
    {
      block: 'mail',
      pin: 'text',
      message: 'text or state or html is needed: give one of them a value.',
    },
  ])
  for (const input of [{ text: 'a' }, { html: 'a' }, { state: '@title.state' }])
    expect(fixture.compile(mailWith(input)).problems).toEqual([])
})

test('a warning about an expression has its column', () => {
  const { blueprint } = fixture.compile({
    get,
    call: call('@get.flow', 'f', '=[1, 2]'),
    fn: fn('f', [{ id: 'tags', type: 'value' }]),
    return: returned,
  })
  expect(blueprint?.notes).toMatchObject([{ block: 'call', pin: 'tags', column: 1 }])
})

test.each<[string, string, string, readonly number[]]>([
  ['a parameter that may be missing', 'hello', '"Hello " + params.name', [12]],
  ['both sides, and of the query', 'hello', 'query.a + params.b', [1, 11]],
  ['inside of others', 'hello', '{ text: ["a" + params.name] }', [16]],
  ['in a branch that another parameter decides', 'hello', 'params.b ? "a" + params.name : ""', [18]],
  ['a part of the path', 'hello/{name}', '"Hello " + params.name', []],
  ['with a default', 'hello', '"Hello " + (params.name ?? "world")', []],
  ['that a condition looks at', 'hello', 'params.name ? "Hello " + params.name : "Hello"', []],
  ['that is looked at before', 'hello', 'params.name != null && "a" + params.name == "ab"', []],
  ['in a text with values', 'hello', '`Hello $' + '{params.name}`', []],
])('a calculation with %s', (_what, uri, value, columns) => {
  const { blueprint } = fixture.compile({
    get: { ...get, in: { uri } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: `=${value}` } },
  })
  const found = blueprint?.notes.filter(({ message }) => message.includes('A client may leave'))
  expect(found?.map(({ block, column }) => [block, column])).toEqual(columns.map((at) => ['reply', at]))
})

test('many warnings of one kind are 50 and a number', () => {
  const lost = Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`s${at}`, store]))
  const { blueprint } = fixture.compile({ get, reply, ...lost })
  expect(blueprint?.notes).toHaveLength(51)
  expect(blueprint?.notes.at(-1)).toMatchObject({ block: '', message: expect.stringMatching(/^20 more/) })
})
