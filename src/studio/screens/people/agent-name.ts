import { peopleTexts } from '../../texts/people.ts'

const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg\//, peopleTexts.edge],
  [/\bFirefox\//, peopleTexts.firefox],
  [/\bChrome\//, peopleTexts.chrome],
  [/\bSafari\//, peopleTexts.safari],
]
const systems: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, peopleTexts.android],
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, peopleTexts.windows],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, peopleTexts.linux],
]

/** The header `user-agent` in a few words, such as "Firefox on Linux"; its beginning where it names no browser. */
export function agentName(agent: string): string {
  const named = (list: typeof browsers) => list.find(([pattern]) => pattern.test(agent))?.[1]
  const [browser, system] = [named(browsers), named(systems)]
  if (browser !== undefined) return system === undefined ? browser : peopleTexts.agent(browser, system)
  return agent === '' ? peopleTexts.unknownProgram : agent.slice(0, 40)
}
