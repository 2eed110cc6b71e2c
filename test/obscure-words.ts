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
  'signs? (?:you )?in no more',
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

/**
 * Words that say what happened to a value, or nothing, where the field has a name for what it is. Say cached, saved or recorded for
 * kept, and remaining for what a filter leaves; recorded or tracked for noted; watched for followed; references for led; validated for ruled; unusual for odd; reported or
 * notified for told; input for given; requested for wanted; commands for deeds; breakpoints for brake; handler or services for door.
 */
const privateWords =
  'kept|noted|noting|followed|led|ruled|odd|told|given|wanted|deeds?|brake|doors?|teller|breathe'.split('|')

const exported =
  /^export (?:default )?(?:async )?(?:abstract )?(?:function\*?|class|interface|type|const|let) (\w+)/gm
const local = new RegExp(String.raw`\b(?:const|let|function\*?) (${privateWords.join('|')})\b`, 'gi')
/** Members of objects. The names of stored documents and of files of builders stay: a change would break what is stored. */
const member = /\breadonly #?(?:kept|given|told|wanted)\b/g
const formats: ReadonlySet<string> = new Set([
  'src/cli/scenarios/scenario-file.ts',
  'src/flows/compile/waiting/stored-frame.ts',
  'src/flows/trace/run-record.ts',
])
const inName = new RegExp(`^(?:${privateWords.join('|')})$`, 'i')

/** The parts of a name: `keptReply`, `KEPT_REPLY` and `kept-reply` have two. */
const partsOf = (name: string) => name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[^A-Za-z0-9]+/)

/** A test may call kept what it expects to be there still. */
const isTest = (name: string) => name.includes('.test.')

/** Private words in the name of a file, in what it exports, in its locals and members, as `file name`. Without a parser: 2,600 files take 0.3 s. */
export function privateNames(file: string, source: string): readonly string[] {
  const name = file.slice(file.lastIndexOf('/') + 1)
  const names = [name, ...[...source.matchAll(exported)].map(([, found = '']) => found)]
  const refused = names.filter((one) => partsOf(one).some((part) => inName.test(part)))
  const members = formats.has(file) ? [] : [...source.matchAll(member)]
  const locals = [...source.matchAll(local)].filter(([text]) => !(isTest(name) && text.endsWith(' kept')))
  const found = [...locals, ...members].map(([text]) => text)
  return [...refused, ...found].map((one) => `${file} ${one}`)
}
