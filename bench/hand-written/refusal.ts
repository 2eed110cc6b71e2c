/** What a client is told, with its status. */
export class Refusal extends Error {
  readonly status: number
  /** By parameter: what it must be. */
  readonly fields: Readonly<Record<string, string>> | undefined

  constructor(status: number, message: string, fields?: Readonly<Record<string, string>>) {
    super(message)
    this.status = status
    this.fields = fields
  }
}
