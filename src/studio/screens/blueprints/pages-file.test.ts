import { expect, test } from 'vitest'
import { usualAccess } from './access/application-access.ts'
import { pagesFile } from './pages-file.ts'

test('headings, titles and buttons of made pages say of which storage they are, and what they do', () => {
  const { name, blocks } = pagesFile(
    { storage: 'contracts', uri: 'contracts', access: usualAccess, names: new Map() },
    [],
  )
  const pin = (block: string, id: string) => blocks[block]?.in?.[id]
  expect(name).toBe('Contracts')
  expect(pin('add_heading', 'text')).toBe('Contracts: new document')
  expect([pin('add', 'title'), pin('edit', 'title')]).toEqual(['Contracts: new document', 'Contracts: edit'])
  expect(pin('add_form', 'submit_label')).toBe('Create')
})
