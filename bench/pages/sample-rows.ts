import { isJsonObject } from '../../src/shared/json.ts'
import { articleBody } from '../sample-articles.ts'
import { statusName } from '../sample-tasks.ts'

/** Coprime to the number of documents, so that their order by number is none that they were made in. */
const STEP = 7_919

/** The JSON body of an article as the table shows it: a title and a text of 30 words together, a stage and a number. */
export function rowBody(number: number, documents: number): string {
  const article: unknown = JSON.parse(articleBody(number))
  const words = isJsonObject(article) ? article : {}
  return JSON.stringify({ ...words, stage: statusName(number), number: (number * STEP) % documents })
}
