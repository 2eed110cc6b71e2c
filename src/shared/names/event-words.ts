const words: Readonly<Record<string, string>> = {
  on_updated: 'changed',
  on_job_dead: 'job given up',
}

/** What a person calls an event that flows listen for: `on_created` is `created`. */
export function eventWords(event: string): string {
  return words[event] ?? event.replace(/^on_/, '').replaceAll('_', ' ')
}
