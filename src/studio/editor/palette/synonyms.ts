/** Words that people look for blocks by, and words that the blocks' own titles and help have. */
const synonyms: readonly (readonly [string, readonly string[]])[] = [
  ['if else condition decide when', ['branch', 'switch', 'condition']],
  ['case match router', ['switch']],
  ['loop foreach iterate repeat while map', ['each', 'map a list']],
  [
    'math calculate calculation plus minus subtract multiply divide add compute',
    ['variable', 'sum', 'number'],
  ],
  ['code javascript script expression formula transform', ['variable', 'map a list', 'new object']],
  ['select find query list filter', ['search', 'filter']],
  ['insert save write store', ['create document', 'create or update']],
  ['edit modify patch', ['update']],
  ['upsert merge', ['create or update']],
  ['cron timer interval every', ['schedule']],
  ['sleep delay pause', ['wait']],
  ['email smtp', ['mail']],
  ['fetch curl rest webhook request call', ['http request']],
  ['webhook endpoint route', ['api: register']],
  ['response return send answer', ['reply', 'return']],
  ['error throw abort exception', ['fail']],
  ['function subflow subroutine procedure', ['custom function']],
  ['queue background async worker job', ['later', 'queue']],
  ['print debug console', ['log']],
  ['csv excel xlsx spreadsheet import', ['row']],
  ['count group average aggregate report', ['aggregate']],
  ['trigger hook on event change', ['storage event']],
  ['table grid', ['data table']],
  ['field text box', ['input']],
  ['redirect navigate', ['go to page']],
  ['set assign variable const let', ['variable']],
  ['login session me', ['current user', 'has scope']],
]

const byWord: ReadonlyMap<string, readonly string[]> = new Map(
  synonyms
    .flatMap(([words, meant]) => words.split(' ').map((word) => [word, meant] as const))
    .reduce(
      (all, [word, meant]) => all.set(word, [...(all.get(word) ?? []), ...meant]),
      new Map<string, string[]>(),
    ),
)

/** What a word is called in the palette; nothing for words that need no other. */
export function synonymsOf(word: string): readonly string[] {
  return byWord.get(word) ?? []
}
