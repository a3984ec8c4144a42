/** Addresses of the services behind the edge, by name: the edge shows their health and their metrics with its own. */
export type Peers = ReadonlyMap<string, string>

export const readPeers = (text: string): Peers =>
  new Map(
    text
      .split(',')
      .filter(Boolean)
      .map((peer): [string, string] => {
        const [, name, address] = /^\s*([\w-]+)=(https?:\/\/\S+?)\/?\s*$/.exec(peer) ?? []
        if (!name || !address) throw new Error(`PEERS must be like name=http://host:port, not ${peer}`)
        return [name, address]
      }),
  )
