/** Page templates: named settings of pages with their CSS and JavaScript. What the settings mean is for `pages` to say. */

import { ACCOUNT_TEMPLATE } from '../shared/account-paths.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { normalizedText } from '../shared/texts/normalized-text.ts'
import { type Database, documentOf } from '../storage/database.ts'
import { textIn } from '../storage/document-fields.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import { type Actor, getRecord, notFound } from './records.ts'

export interface TemplateInput {
  readonly name: string
  readonly description?: string
  readonly content?: string
  readonly css?: string
  readonly js?: string
}

/** Who writes a template. */
export interface TemplateAuthor extends Actor {
  /**
   * Whether the JavaScript may change. It runs on the origin of the studio, in the browsers of all users who open its pages,
   * so its author can do everything that those users can do.
   */
  readonly mayScript: boolean
  /** Whether the template of the pages at which passwords are typed may change. */
  readonly mayTakeAccountPages: boolean
}

export async function openTemplates(database: Database): Promise<void> {
  await database.ensure(systemStorages.templates, {
    indexes: [{ fields: ['name_key'], unique: true }],
    text: true,
  })
}

/** CONFLICT if the name is taken, in any case: blocks find templates by name. INSUFFICIENT_PERMISSIONS for JavaScript and account pages. */
export async function createTemplate(
  database: Database,
  input: TemplateInput,
  { mayScript, mayTakeAccountPages, ...by }: TemplateAuthor,
): Promise<JsonObject> {
  const { name, description = '', content = '', css = '', js = '' } = input
  if (js !== '' && !mayScript) throw mayNotScript()
  if (keyOf(name) === ACCOUNT_TEMPLATE && !mayTakeAccountPages) throw mayNotTakeAccountPages()
  const stamps = { created_by: { ...by }, last_modified_by: { ...by } }
  const fields = { name, name_key: keyOf(name), description, content, css, js, ...stamps }
  return named(name, () =>
    transact(
      database,
      async (session) => documentOf(await session.create(systemStorages.templates, setFields(fields))),
      { user: by },
    ),
  )
}

export async function getTemplate(database: Database, guid: string): Promise<JsonObject> {
  return getRecord(database.session(), systemStorages.templates, guid, 'page template')
}

/** Changes what is given. NOT_FOUND, CONFLICT, INSUFFICIENT_PERMISSIONS if the JavaScript is not the stored one. */
export async function updateTemplate(
  database: Database,
  guid: string,
  changes: Partial<TemplateInput>,
  { mayScript, mayTakeAccountPages, ...by }: TemplateAuthor,
): Promise<JsonObject> {
  const { name, description, content, css, js } = changes
  const name_key = name === undefined ? undefined : keyOf(name)
  const mutations = setFields({ name, name_key, description, content, css, js, last_modified_by: { ...by } })
  return named(name ?? '', () =>
    transact(
      database,
      async (session) => {
        const written = await session.update(systemStorages.templates, guid, mutations)
        if (written.outcome !== 'written') throw notFound(guid, 'page template')
        const before = documentOf(written.before)
        if (js !== undefined && js !== textIn(before.js) && !mayScript) throw mayNotScript()
        const isOfAccounts = [before.name_key, name_key].includes(ACCOUNT_TEMPLATE)
        if (isOfAccounts && !mayTakeAccountPages) throw mayNotTakeAccountPages()
        return documentOf(written.document)
      },
      { user: by },
    ),
  )
}

/** Soft delete. The name is free again. */
export async function removeTemplate(database: Database, guid: string, by: Actor): Promise<void> {
  await transact(
    database,
    async (session) => {
      const removed = await session.setRemoved(systemStorages.templates, guid, true)
      if (removed.outcome !== 'written') throw notFound(guid, 'page template')
    },
    { user: by },
  )
}

function mayNotScript(): QuoinError {
  return new QuoinError(
    'INSUFFICIENT_PERMISSIONS',
    'The JavaScript of a page template runs in the browser of every visitor. To change it you need the scope blueprinttemplates_script.',
  )
}

function mayNotTakeAccountPages(): QuoinError {
  return new QuoinError(
    'INSUFFICIENT_PERMISSIONS',
    `The template ${ACCOUNT_TEMPLATE} is that of the pages where passwords are typed. To write it you need the scope blueprints_account_pages.`,
  )
}

/** The unique index finds a taken name; here it gets its words. */
async function named<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof QuoinError) || error.code !== 'CONFLICT') throw error
    throw new QuoinError('CONFLICT', `There is a page template named ${name}. Choose another name.`, {
      cause: error,
    })
  }
}

function keyOf(name: string): string {
  return normalizedText(name, 'NFKC').toLowerCase()
}
