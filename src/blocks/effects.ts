/**
 * What a flow block does beside giving values. Commits, units of work, notes of a deploy, the reply cache and replays follow from
 * it, so a new effect is a member here and one rule where it counts.
 */
export interface Effects<In extends string = string> {
  /**
   * Looks at stored documents: where a block that writes follows, the run is a unit of work. `each` does not: a walk through
   * any number of documents is at no one moment.
   */
  readonly reads?: true
  /** What it does to documents, in a word that finishes "its flow … documents": a deploy warns where no access is required. */
  readonly writes?: 'creates' | 'changes' | 'removes' | 'deletes'
  /**
   * `external`: it touches what no transaction undoes, so what the run wrote before is made durable first, and a replay gives its
   * recorded outputs. `detached`: the same, but where no block has read or written before it, nothing is committed first, and the
   * blocks behind it can still be a unit of work. A run that begins once more gets what it got before.
   */
  readonly calls?: 'external' | 'detached'
  /**
   * What it sends with the commit of the run. `job`: runs later, in a run of its own. `mail`: the same, and a deploy warns where the
   * cluster has no mail server. `message`: to other clients.
   */
  readonly sends?: readonly ('job' | 'mail' | 'message')[]
  /** May set variables of the run, itself or in the functions that it calls. */
  readonly setsVariables?: true
  /**
   * Changes nothing, and gives or replies the same for the same inputs until something is written to the storages among
   * them: what a flow of such blocks has replied may be sent again. A list: only while these in-pins are empty.
   */
  readonly cacheable?: true | readonly In[]
  /**
   * Does and gives the same for every caller, for the same inputs. Without this, and without `cacheable`, a reply behind it is
   * taken for one to this caller alone.
   */
  readonly callerIndependent?: true
}

const NONE: Effects = {}

/** Of any block: values and triggers have none. */
export function effectsOf(definition: { readonly kind: string; readonly effects?: Effects }): Effects {
  return definition.effects ?? NONE
}

/** Whether it stores a job: a mail is sent by one. */
export function storesJob({ sends }: Effects): boolean {
  return sends?.some((one) => one !== 'message') === true
}

export function sendsMail({ sends }: Effects): boolean {
  return sends?.includes('mail') === true
}
