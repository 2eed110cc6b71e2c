/** Reads a Dockerfile as far as ours go: what each stage copies, runs, sets and starts. Throws on anything else. */

export interface DockerStage {
  readonly name: string
  readonly steps: readonly DockerStep[]
  readonly env: Readonly<Record<string, string>>
  readonly entrypoint: readonly string[]
}

export type DockerStep =
  | {
      readonly kind: 'copy'
      readonly from: string | undefined
      readonly source: string
      readonly target: string
    }
  | { readonly kind: 'run'; readonly command: string }
  | { readonly kind: 'workdir'; readonly path: string }

/** Instructions that change nothing here: they are for the engine that runs the container. */
const forTheEngine = ['VOLUME', 'EXPOSE', 'USER', 'STOPSIGNAL', 'HEALTHCHECK', 'CMD']

export function dockerStages(text: string): DockerStage[] {
  const stages: { name: string; steps: DockerStep[]; env: Record<string, string>; entrypoint: string[] }[] =
    []
  for (const [, instruction = '', words = ''] of instructionsOf(text)) {
    if (instruction === 'FROM') {
      stages.push({ name: / AS (\w+)$/.exec(words)?.[1] ?? '', steps: [], env: {}, entrypoint: [] })
      continue
    }
    const stage = stages.at(-1)
    if (!stage) throw new Error(`${instruction} comes before FROM.`)
    if (instruction === 'RUN') stage.steps.push({ kind: 'run', command: words })
    else if (instruction === 'WORKDIR') stage.steps.push({ kind: 'workdir', path: words })
    else if (instruction === 'COPY') stage.steps.push(copyOf(words))
    else if (instruction === 'ENTRYPOINT') stage.entrypoint = stringsOf(words)
    else if (instruction === 'ENV')
      for (const [, name = '', value = ''] of words.matchAll(/(\w+)=(\S+)/g)) stage.env[name] = value
    else if (!forTheEngine.includes(instruction)) throw new Error(`${instruction} is not known here.`)
  }
  return stages
}

function instructionsOf(text: string): RegExpExecArray[] {
  const joined = text.replace(/^#.*\n/gm, '').replace(/\\\n/g, ' ')
  return [...joined.matchAll(/^([A-Z]+) +(.+)$/gm)]
}

function copyOf(words: string): DockerStep {
  const [, from, source = '', target = ''] = /^(?:--from=(\w+) )?(\S+) (\S+)$/.exec(words) ?? []
  return { kind: 'copy', from, source, target }
}

function stringsOf(words: string): string[] {
  const list: unknown = JSON.parse(words)
  if (!Array.isArray(list)) throw new TypeError('A list is expected.')
  return list.map(String)
}
