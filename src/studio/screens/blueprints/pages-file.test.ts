import { expect, test } from 'vitest'
import { inOrder } from '../../api/storages.ts'
import { usualAccess } from './access/application-access.ts'
import { pagesFile } from './pages-file.ts'

test('headings, titles and buttons of made pages say of which storage they are, and what they do', () => {
  const { name, blocks, layout } = pagesFile(
    { storage: 'contracts', uri: 'contracts', access: usualAccess, names: new Map() },
    [],
  )
  const pin = (block: string, id: string) => blocks[block]?.in?.[id]
  expect(name).toBe('Contracts')
  expect(pin('add_heading', 'text')).toBe('Contracts: new document')
  expect([pin('add', 'title'), pin('edit', 'title')]).toEqual(['Contracts: new document', 'Contracts: edit'])
  expect(pin('add_form', 'submit_label')).toBe('Create')
  // Each page begins right below the one before.
  expect(layout).toMatchObject({ list: [0, 0], add: [0, 480], create: [0, 900], view: [0, 1380] })
})

test('a form asks for fields by their numbers, then in the order in which they were added', () => {
  const field = (guid: string, name: string, order?: number | null) => ({ _meta: { guid }, name, order })
  const fields = [
    field('05', 'amount'),
    field('03', 'title', null),
    field('04', 'customer'),
    field('09', 'number', 1),
    field('01', 'state', 2),
  ]
  const ordered = ['number', 'state', 'title', 'customer', 'amount']
  expect(inOrder(fields).map(({ name }) => name)).toEqual(ordered)
})
