/** Texts of applications, which every node has in memory: a record for each language, with the blueprints that read it. */
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import type { Translations } from '../shared/texts/translations.ts'
import type { Database } from '../storage/database.ts'
import { textIn, textsIn } from '../storage/document-fields.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { openNamedRecords } from './named-records.ts'

/** A thousand applications in ten languages each. */
const MOST_RECORDS = 10_000

export interface ApplicationTexts {
  /** Of the application that a blueprint belongs to: the same object until texts change. */
  of(blueprint: string): Translations | undefined
  /** Reads all again: a release wrote some. */
  refresh(): Promise<void>
  close(): void
}

export async function openApplicationTexts(database: Database): Promise<ApplicationTexts> {
  let known: ReadonlyMap<string, Translations> = new Map()
  const records = await openNamedRecords(database, {
    storage: systemStorages.texts,
    noun: 'language of an application',
    most: MOST_RECORDS,
    changed(present) {
      known = byBlueprint([...present.values()])
    },
  })
  return { of: (blueprint) => known.get(blueprint), refresh: records.refresh, close: records.close }
}

function byBlueprint(records: readonly JsonObject[]): ReadonlyMap<string, Translations> {
  const applications = Map.groupBy(records, ({ application }) => textIn(application))
  const found = new Map<string, Translations>()
  for (const languages of applications.values()) {
    const translations = {
      fallback: textIn(languages[0]?.fallback),
      languages: Object.fromEntries(
        languages.map(({ language, texts }) => [textIn(language), isJsonObject(texts) ? texts : {}]),
      ),
    }
    for (const blueprint of textsIn(languages[0]?.blueprints)) found.set(blueprint, translations)
  }
  return found
}
