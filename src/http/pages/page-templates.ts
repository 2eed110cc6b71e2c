import { hash } from 'node:crypto'
import { readTemplate } from '../../pages/read-template.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { PageTemplate } from '../../shared/pages/page-content.ts'
import { normalizedText } from '../../shared/texts/normalized-text.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'

export interface PageTemplates {
  /** Undefined if there is none of this name. */
  find(name: string): Promise<PageTemplate | undefined>
  /** The style or script behind an address that `find` gave; undefined when it is of another version. */
  file(name: string): Promise<{ readonly type: string; readonly text: string } | undefined>
}

export const TEMPLATE_FILES = 'templates/'

/** Page templates as pages use them. Read for each page: one indexed read, and no node is behind the others. */
export function pageTemplates(database: Database): PageTemplates {
  const partsOf = (record: JsonObject) => ({
    name: textIn(record.name),
    content: textIn(record.content),
    css: textIn(record.css),
  })
  const address = (record: JsonObject, text: string, ending: string) =>
    text === '' ? undefined : `/_pages/${TEMPLATE_FILES}${guidOf(record)}.${hashOf(text)}.${ending}`
  return {
    async find(name) {
      const key = normalizedText(name, 'NFKC').toLowerCase()
      const record = await findOne(database.session(), systemStorages.templates, 'name_key', key)
      if (!record) return undefined
      const { settings, css } = readTemplate(partsOf(record))
      return {
        name: textIn(record.name),
        settings,
        css: address(record, css, 'css'),
        js: address(record, textIn(record.js), 'js'),
      }
    },
    async file(name) {
      const [, guid, requested, ending] =
        /^templates\/([A-Za-z0-9-]+)\.([A-Za-z0-9_-]+)\.(css|js)$/.exec(name) ?? []
      const stored =
        guid === undefined ? undefined : await database.session().get(systemStorages.templates, guid)
      if (!stored) return undefined
      const record = documentOf(stored)
      const text = ending === 'js' ? textIn(record.js) : readTemplate(partsOf(record)).css
      if (hashOf(text) !== requested) return undefined
      return { type: ending === 'js' ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8', text }
    },
  }
}

function hashOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 16)
}
