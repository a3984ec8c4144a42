import type { Edge } from './edge.js'
import type { Command } from './history.js'
import type { Integrity } from './integrity.js'
import type { Sink } from './sink.js'

/** One command of a history; nothing where there is nothing to pick from. Who is asleep does nothing. */
export const act = (
  command: Command,
  { edge, integrity, sink }: { edge: Edge; integrity: Integrity; sink: Sink },
): void => {
  switch (command.do) {
    case 'submit':
      edge.submit(command)
      break
    case 'submit again':
      edge.submitAgain(command.pick)
      break
    case 'fetch':
      integrity.fetch(command.pick, command.most)
      break
    case 'step': {
      const work = pickFrom(integrity.works(), command.pick)
      if (work) integrity.advance(work, command)
      break
    }
    case 'handle a fetch': {
      const work = integrity.fetch(command.pick, command.most)
      for (let n = 0; work && n < command.steps && integrity.works().includes(work); n++)
        integrity.advance(work, { choice: 0, notices: true, twice: false })
      break
    }
    case 'fail': {
      const work = pickFrom(integrity.works(), command.pick)
      if (work) integrity.drop(work)
      break
    }
    case 'crash':
      integrity.crash(command.instance)
      break
    case 'rebalance':
      integrity.rebalance(command.owners)
      break
    case 'pause':
    case 'wake':
      integrity.pause(command.instance, command.do === 'pause')
      break
    case 'jump':
      integrity.jump(command.pick, command.to)
      break
    case 'sink fetch':
      sink.fetch(command.pick, command.most)
      break
    case 'sink step': {
      const work = pickFrom(sink.works(), command.pick)
      if (work) sink.advance(work)
      break
    }
    case 'sink crash':
      sink.crash()
      break
    case 'sink rebalance':
      sink.rebalance()
      break
    default:
      command satisfies never
  }
}

const pickFrom = <T>(all: readonly T[], pick: number): T | undefined => all[pick % all.length]
