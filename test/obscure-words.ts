import { isCatalogue, proseOf } from './prose.ts'

/**
 * Words that make a newcomer ask "who?" or "which?". Say client, caller, builder, run, node or request; "again" for "anew",
 * "permanently" for "for good", "go live" for "begin to answer".
 */
const obscure = [
  'whoever',
  'whomever',
  'for who',
  'somebody',
  'nobody',
  'anybody',
  'everybody',
  'anew',
  'afresh',
  'for good',
  'bec(?:a|o)mes? of',
  'begins? to answer',
  'stops? to answer',
  'stands? or falls?',
  'goes? on behind',
  'is another one',
  'of its own kind',
  'ails|ailed',
  'what is kept',
  'a word too many',
  'some times slower',
]

const pattern = new RegExp(String.raw`\b(?:${obscure.join('|')})\b`, 'gi')

/** In texts of the studio also these, which comments may say of code. */
const riddles = ['stands?(?! for)', 'stood', 'made of', 'in the words', 'who is waiting', 'what is not']

const patternOfTexts = new RegExp(String.raw`\b(?:${[...obscure, ...riddles].join('|')})\b`, 'gi')

/** The obscure words of a file's prose, as `file:line words`. A word in double quotes is a name. */
export function obscureWords(file: string, source: string): readonly string[] {
  const words = isCatalogue(file) ? patternOfTexts : pattern
  // Most files have none in their code either: to parse them all took five seconds.
  if (source.replace(/[\s*/#]+/g, ' ').search(words) < 0) return []
  return proseOf(file, source).flatMap(({ line, text }) =>
    [...text.replace(/"\w+"/g, '·').matchAll(words)].map(([found]) => `${file}:${line} ${found}`),
  )
}
