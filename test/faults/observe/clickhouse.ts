/** Asks ClickHouse over plain HTTP, as curl would, as an analyst without a user. Values are bound, never spliced in. */
export const createAnalyst =
  (url: string) =>
  async <Row>(sql: string, values: Record<string, string> = {}): Promise<Row[]> => {
    const address = Object.assign(new URL(url), { username: '', password: '' })
    for (const [name, value] of Object.entries(values)) address.searchParams.set(`param_${name}`, value)
    // A UInt64 as text: JSON's numbers do not hold them all.
    address.searchParams.set('output_format_json_quote_64bit_integers', '1')
    const answer = await fetch(address, { method: 'POST', body: `${sql} format JSONEachRow` })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`ClickHouse answers ${answer.status}: ${text}`)
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Row)
  }
