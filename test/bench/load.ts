import type { Uploader } from '../support/system/uploader.js'

/** Runs `times` calls, `atOnce` of them at a time; how long each took, in milliseconds. */
export const run = async (times: number, atOnce: number, call: (n: number) => Promise<unknown>): Promise<number[]> => {
  const took: number[] = []
  let next = 0
  const worker = async () => {
    while (next < times) {
      const n = next++
      const began = performance.now()
      await call(n)
      took.push(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return took
}

export const uploadOrFail = async (uploader: Uploader, type: string, records: unknown[]): Promise<void> => {
  const { status, body } = await uploader.upload(type, records)
  if (status !== 200) throw new Error(`upload of ${type} answered ${status}: ${JSON.stringify(body).slice(0, 300)}`)
}

export const interactOrFail = async (uploader: Uploader, interaction: unknown): Promise<void> => {
  const { status, body } = await uploader.interact(interaction)
  if (status !== 201) throw new Error(`interaction answered ${status}: ${JSON.stringify(body).slice(0, 300)}`)
}
