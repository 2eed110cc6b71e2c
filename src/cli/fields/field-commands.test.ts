/** storage … and field …: on the data directory while no server runs, and over HTTP while one does. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandFixture, openCommandFixture, places } from '../../../test/command-fixture.ts'
import { quoinCommand } from '../../../test/recording-terminal.ts'
import { fieldTypes } from '../../shared/fields/field-type.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { objectsIn } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'

test('the help of field add names every type', async () => {
  const { printed } = await quoinCommand(['help', 'field', 'add'])
  const [, listed = ''] = printed.split('Types: ')
  expect(fieldTypes.filter((type) => !new RegExp(`\\b${type}\\b`).test(listed))).toEqual([])
})

describe.each(places)('%s', (where) => {
  let fixture: CommandFixture
  beforeAll(async () => {
    fixture = await openCommandFixture(where)
  })
  afterAll(() => fixture.close())
  const run = (...words: readonly string[]) => fixture.run(words)
  const done = { code: 0, complained: '' }

  const fill = (prices: readonly string[]) =>
    fixture.inside(async ({ flows }) => {
      await transact(flows.records.database, async (session) => {
        for (const price of prices) await session.create('goods', setFields({ price }))
      })
    })
  const stored = () =>
    fixture.inside(async ({ flows }) => {
      const { documents } = await flows.records.database.session().find('goods', search())
      return objectsIn(documents.value)
        .map(({ _meta, ...fields }) => JSON.stringify(fields))
        .sort()
    })

  test('a storage and its fields are added, listed, renamed, converted and removed', async () => {
    expect(await run('storage', 'add', 'goods')).toMatchObject(done)
    expect(await run('field', 'list', 'goods')).toMatchObject({
      code: 0,
      complained: 'goods has no fields. Add one: quoin field add goods <name> <type>',
    })
    expect(await run('field', 'add', 'goods', 'price', 'text', '--rules', '{"required":true}')).toMatchObject(
      done,
    )
    expect((await run('field', 'list', 'goods')).printed).toBe('price\tstring, required')
    await fill(['12', 'dear'])
    expect((await run('storage', 'list')).printed).toContain('goods\t2')

    const preview = await run('field', 'rename', 'goods', 'price', 'cost', '--dry-run')
    expect(preview).toMatchObject({ ...done, printed: '2 documents have a value.' })
    const renamed = await run('field', 'rename', 'goods', 'price', 'cost')
    if (where !== 'over HTTP') {
      // Jobs run in a server.
      expect(renamed).toMatchObject({ ...done, printed: expect.stringContaining('2 documents follow') })
      expect((await run('field', 'list', 'goods')).printed).toContain('its values are following a change')
      return
    }
    expect(renamed).toMatchObject({ ...done, printed: 'Done.' })
    expect(await stored()).toEqual(['{"cost":"12"}', '{"cost":"dear"}'])

    const refused = await run('field', 'convert', 'goods', 'cost', 'number')
    expect(refused).toMatchObject({
      code: 1,
      printed: '2 documents have a value, 1 would be converted, 1 would not fit.',
    })
    expect(refused.complained).toMatch(/^[\w-]+: "dear" .*\nNothing was changed\. Say with --misfits/)
    const converted = await run('field', 'convert', 'goods', 'cost', 'number', '--misfits', '{"value":0}')
    expect(converted).toMatchObject({ ...done, printed: 'Done.' })
    expect(await stored()).toEqual(['{"cost":0}', '{"cost":12}'])

    expect(await run('field', 'remove', 'goods', 'cost')).toMatchObject({
      code: 1,
      printed: '2 documents have a value.',
      complained: 'Nothing was removed. Remove it all the same with --yes.',
    })
    expect(await run('field', 'remove', 'goods', 'cost', '--yes')).toMatchObject(done)
    expect(await run('storage', 'remove', 'goods')).toMatchObject({
      code: 1,
      complained: 'goods has 2 documents. Nothing was removed. Delete them with --yes.',
    })
    expect(await run('storage', 'remove', 'goods', '--yes')).toMatchObject(done)
    expect((await run('storage', 'list')).printed).not.toContain('goods')
  }, 60_000)

  test('what is not there is said with the nearest name', async () => {
    await run('storage', 'add', 'people')
    await run('field', 'add', 'people', 'email', 'text')
    expect(await run('field', 'rename', 'people', 'emial', 'mail')).toMatchObject({
      code: 1,
      complained: 'The storage people has no field "emial". Did you mean email?',
    })
    expect((await run('field', 'add', 'people', 'age', 'number', '--rules', '[]')).code).toBe(2)
  }, 60_000)
})
