/** Texts of an application by language: what is wrong with them, how the cluster has them, and how a release writes them. */
import Type from 'typebox'
import {
  type Argument,
  type Entry,
  type Expression,
  partsOf,
  type Spread,
} from '../expressions/language/expression.ts'
import { parseExpression } from '../expressions/language/parse-expression.ts'
import { type Application, nameOfApplication } from '../shared/application/application.ts'
import type { PushedMap } from '../shared/application/application-changes.ts'
import type { JsonPath } from '../shared/application/json-places.ts'
import { isJsonObject, type JsonObject, namedObject, sameJson } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { nearestName } from '../shared/names/nearest-name.ts'
import { answeredKeys, languageTag } from '../shared/texts/translations.ts'
import { documentOf, type Session } from '../storage/database.ts'
import { guidOf, textIn, textsIn } from '../storage/document-fields.ts'
import { systemStorages } from '../storage/system-storages.ts'

const TEXT_KEY = '^[A-Za-z][A-Za-z0-9_]*(?:\\.[A-Za-z0-9_]+)*$'
const MOST_KEY = 200

export const textSchema = Type.String({
  maxLength: 20_000,
  description:
    'A text that translate gives. {name} becomes the value of that name; a key that ends with .one or .other is chosen by count.',
})

export interface TextProblem {
  readonly map: 'texts' | 'blueprints' | 'about'
  readonly object: string
  readonly path: JsonPath
  readonly block?: string
  readonly pin?: string
  readonly message: string
  readonly warning?: true
}

/** The language of those for whom no text is written. */
function fallbackLanguage({ about, texts }: Pick<Application, 'about' | 'texts'>): string {
  if (textIn(about.language) !== '') return languageTag(textIn(about.language)) ?? ''
  const languages = Object.keys(texts)
  return languageTag(languages.includes('en') ? 'en' : (languages[0] ?? '')) ?? 'en'
}

export function textProblems(application: Application): readonly TextProblem[] {
  const { about, texts } = application
  const names = Object.keys(texts)
  const shapes = names.flatMap((object) => shapeProblems(object, texts[object] ?? {}))
  const language = textIn(about.language)
  const fallback = names.find((name) => languageTag(name) === fallbackLanguage(application))
  if (about.language !== undefined && fallback === undefined)
    shapes.push({
      ...{ map: 'about', object: '', path: ['language'] },
      message: `There is no texts/${language.toLowerCase()}.json, to which language leads.`,
    })
  return shapes.length > 0 ? shapes : [...unknownKeys(application), ...missingKeys(texts)]
}

function shapeProblems(object: string, texts: JsonObject): TextProblem[] {
  const at = { map: 'texts', object } as const
  if (languageTag(object) === undefined)
    return [{ ...at, path: [], message: 'The name must be a language, such as en.json or pt-br.json.' }]
  const isKey = new RegExp(TEXT_KEY)
  return Object.entries(texts).flatMap(([key, text]): TextProblem[] => {
    if (key.length > MOST_KEY || !isKey.test(key))
      return [
        {
          ...at,
          path: [key],
          message: `The key ${JSON.stringify(key.slice(0, 80))} must be letters, digits and _, with dots between its parts.`,
        },
      ]
    if (typeof text === 'string' && text.length <= 20_000) return []
    return [{ ...at, path: [key], message: `${key} must be a text of at most 20,000 characters.` }]
  })
}

/** Of all languages, with what plural forms answer. */
function keysOf(texts: Application['texts']): ReadonlySet<string> {
  return new Set(Object.values(texts).flatMap((one) => Object.keys(one).flatMap(answeredKeys)))
}

function unknownKeys({ blueprints, texts }: Application): TextProblem[] {
  const known = keysOf(texts)
  return Object.entries(blueprints).flatMap(([object, { blocks }]) =>
    Object.entries(isJsonObject(blocks) ? blocks : {}).flatMap(([block, content]) =>
      expressionsOf(content).flatMap(({ path, pin, text }) =>
        translatedKeys(text).flatMap(({ key, start }): TextProblem[] => {
          if (known.has(key)) return []
          const near = nearestName(key, [...known])
          const advice = near === undefined ? '' : ` Did you mean ${near}?`
          const message = `No file of texts has the key ${JSON.stringify(key)} (column ${start + 1} of the expression).${advice}`
          return [{ map: 'blueprints', object, path: ['blocks', block, ...path], block, pin, message }]
        }),
      ),
    ),
  )
}

interface PinText {
  readonly path: JsonPath
  readonly pin: string
  readonly text: string
}

/** Expressions of a block of a file: `"=…"` in a pin, or in a list of what a pin takes several of. */
function expressionsOf(block: JsonObject[string]): PinText[] {
  const pins = isJsonObject(block) && isJsonObject(block.in) ? Object.entries(block.in) : []
  return pins.flatMap(([pin, value]) =>
    [value].flat().flatMap((one): PinText[] => {
      if (typeof one !== 'string' || !one.startsWith('=')) return []
      return [{ path: ['in', pin], pin, text: one.slice(1) }]
    }),
  )
}

/** A visitor of this language reads them in another one. A form that only some languages have is none of them. */
function missingKeys(texts: Application['texts']): TextProblem[] {
  const all = keysOf(texts)
  return Object.entries(texts).flatMap(([object, own]): TextProblem[] => {
    // `pt-br` has only what differs from `pt`.
    const [base = object] = object.split('-')
    const has = keysOf({ own, ...(base !== object && texts[base] && { base: texts[base] }) })
    const stems = [...all].filter((key) => !has.has(key) && answeredKeys(key).length === 1).sort()
    if (stems.length === 0) return []
    const shown = stems.slice(0, 10).join(', ')
    const more = stems.length > 10 ? ` and ${stems.length - 10} more` : ''
    const message = `has no translation of ${shown}${more}: it is read in another language.`
    return [{ map: 'texts', object, path: [], message, warning: true }]
  })
}

/** As the file has it. */
export function textsOf({ texts }: JsonObject): JsonObject {
  return isJsonObject(texts) ? texts : {}
}

/** All languages, behind everything else: each says which blueprints read it. */
export async function writeTexts(
  session: Session,
  requested: Application,
  objects: Readonly<Record<PushedMap, Record<string, string>>>,
): Promise<void> {
  const application = nameOfApplication(requested)
  const [blueprints, fallback] = [Object.values(objects.blueprints).sort(), fallbackLanguage(requested)]
  for (const [object, texts] of Object.entries(requested.texts)) {
    const language = languageTag(object) ?? object
    const name = `${application} ${language}`
    const fields = {
      name,
      application,
      language,
      fallback,
      blueprints,
      texts: namedObject(Object.entries(texts)),
    }
    const guid = objects.texts[object]
    const stored = guid === undefined ? undefined : await session.get(systemStorages.texts, guid)
    if (!stored || guid === undefined)
      objects.texts[object] = guidOf(
        documentOf(await session.create(systemStorages.texts, setFields(fields))),
      )
    else if (!isSame(documentOf(stored), fields))
      await session.update(systemStorages.texts, guid, setFields(fields))
  }
  for (const [object, guid] of Object.entries(objects.texts)) {
    if (requested.texts[object] !== undefined) continue
    await session.delete(systemStorages.texts, guid)
    delete objects.texts[object]
  }
}

function isSame(record: JsonObject, { blueprints, fallback, texts }: JsonObject): boolean {
  if (record.fallback !== fallback || !sameJson(textsOf(record), texts ?? {})) return false
  return sameJson([...textsIn(record.blueprints)], blueprints ?? [])
}

interface TranslatedKey {
  readonly key: string
  /** Zero-based column. */
  readonly start: number
}

/** The keys of texts that expressions name: of `translate('deals.title')`, and not of keys that are calculated. */
function translatedKeys(text: string): readonly TranslatedKey[] {
  if (!text.includes('translate')) return []
  const { expression } = parseExpression(text)
  if (!expression) return []
  const found: TranslatedKey[] = []
  const queue: (Argument | Entry | Spread)[] = [expression.root satisfies Expression]
  for (let part = queue.pop(); part; part = queue.pop()) {
    queue.push(...partsOf(part))
    if (part.kind !== 'call' || part.name !== 'translate') continue
    const [key] = part.arguments
    if (key?.kind === 'literal' && typeof key.value === 'string')
      found.push({ key: key.value, start: key.start })
  }
  return found
}
