import type { Command } from 'commander'

/** The options that say which rejections are meant, the same for each command. */
export const addFilterOptions = (command: Command): Command =>
  command
    .option('--org <id>', 'only those of one organisation')
    .option('--type <type>', 'only records of one type, such as offers')
    .option('--request <id>', 'only those of one request, or of one batch')
    .option('--code <code>', 'only those with such a problem, such as unknown_reference')
    .option('--since <when>', 'refused since then: how long ago (30m, 24h, 7d), or an ISO 8601 date or time')
    .option('--until <when>', 'refused before then')
