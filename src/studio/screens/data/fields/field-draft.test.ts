import { describe, expect, it } from 'vitest'
import { bodyOfField, draftOfField, newField } from './field-draft.ts'

const record = (fields: object) => ({
  _meta: {
    guid: '',
    entity: 1,
    created: 0,
    updated: 0,
    cms: 0,
    ums: 0,
    removed: 0,
    expiry: -1,
    update_hash: '',
  },
  name: 'n',
  type: 'number',
  description: '',
  blueprint_guid: null,
  storage: null,
  required: false,
  default_value: null,
  validation_rules: {},
  metadata: {},
  created_by: { guid: '', username: '' },
  modified_by: { guid: '', username: '' },
  ...fields,
})

const body = (draft: object) => JSON.parse(JSON.stringify(bodyOfField({ ...newField, ...draft })))

describe('the form of a field', () => {
  it.each([
    ['a number is typed as JSON', { type: 'number', defaultValue: '{' }],
    ['an object, too', { type: 'object', defaultValue: 'abc' }],
  ])('refuses a default that is none: %s', (_why, draft) => {
    expect(() => body(draft)).toThrow('not JSON')
  })

  it.each([
    [{}, { storage: null, default_value: null, validation_rules: {} }],
    [
      { storage: 'tasks', defaultValue: 'open' },
      { storage: 'tasks', default_value: 'open' },
    ],
    [{ type: 'number', min: '1', choices: ['1', '2'] }, { validation_rules: { min: 1, choices: [1, 2] } }],
    [{ type: 'date', min: '2026-01-01' }, { validation_rules: { min: '2026-01-01' } }],
    [{ type: 'reference', refersTo: 'a' }, { reference: { storage: 'a', on_delete: 'refuse' } }],
    [{ type: 'reference' }, { reference: null }],
    [{ type: 'line', collation: 'sv' }, { collation: 'sv' }],
    [{ type: 'string' }, { collation: null }],
    [{ type: 'number', collation: 'sv' }, { collation: null }],
    [
      { type: 'line', ignores: 'accents' },
      { ignore_case: true, ignore_accents: true },
    ],
    [{ type: 'number', ignores: 'case' }, { ignore_case: false }],
    [{ type: 'number', refersTo: 'a' }, { reference: null }],
    [{ maxLength: '5', pattern: '^a' }, { validation_rules: { max_length: 5, pattern: '^a' } }],
  ])('%j', (draft, expected) => {
    expect(body(draft)).toMatchObject(expected)
  })

  it('gives back the order of a language', () => {
    expect(body(draftOfField(record({ type: 'string', collation: 'tr' })))).toMatchObject({ collation: 'tr' })
  })

  it('gives back what does not count', () => {
    const ignored = { ignore_case: true, ignore_accents: false }
    expect(body(draftOfField(record({ type: 'string', ...ignored })))).toMatchObject(ignored)
  })

  it('gives back a reference', () => {
    const reference = { storage: 'others', on_delete: 'clear' as const }
    expect(body(draftOfField(record({ type: 'string', storage: 's', reference })))).toMatchObject({
      reference,
    })
  })

  it('gives back what it was given', () => {
    const input = {
      ...{ storage: 's', default_value: 3, validation_rules: { min: 1, choices: [3, 4] } },
      ...{ label: 'N', help: 'How many.', order: 2, computed: null, default_expression: null },
      ...{ visible_to: 'contains(user.scopes, "hr")', settable_by: null },
      unique: { with: 'key', ignore_case: true, ignore_accents: false },
      reference: null,
      collation: null,
      ignore_case: false,
      ignore_accents: false,
    }
    expect(body(draftOfField(record(input)))).toEqual({
      ...{ name: 'n', type: 'number', description: '', required: false },
      ...input,
    })
  })

  it.each([
    ['unique', null, null],
    ['unique', true, true],
    ['unique', 'key', 'key'],
    ['unique', false, null],
    ['computed', 'doc.a', 'doc.a'],
    ['default_expression', 'today()', 'today()'],
  ])('gives back %s as %j', (name, input, expected) => {
    expect(body(draftOfField(record({ [name]: input })))).toMatchObject({ [name]: expected })
  })
})
