import { proseOf } from './prose.ts'

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

/** The obscure words of a file's prose, as `file:line words`. A word in double quotes is a name. */
export function obscureWords(file: string, source: string): readonly string[] {
  return proseOf(file, source).flatMap(({ line, text }) =>
    [...text.replace(/"\w+"/g, '·').matchAll(pattern)].map(([words]) => `${file}:${line} ${words}`),
  )
}
