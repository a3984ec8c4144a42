/** One process that the supervisor keeps running: a part (Kafka, Postgres, …) or one of Weir's services. */
export type ProcessDefinition = {
  readonly name: string
  readonly port: number
  readonly command: string
  readonly args: readonly string[]
  /** Added to the launcher's own environment. */
  readonly env?: Readonly<Record<string, string>>
  /** A command put in front, to run it as somebody else. */
  readonly runAs?: readonly string[]
  /** Run before every start, also before a restart: formatting, clearing what a killed predecessor left. */
  readonly prepare?: () => Promise<void>
  readonly isReady: () => Promise<boolean>
  readonly stopSignal?: NodeJS.Signals
}
