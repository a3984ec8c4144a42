import type { FastifyInstance } from 'fastify'

/**
 * While the edge stops, every answer also ends its connection. Fastify says so to requests that come after the stop began;
 * those that were waiting then would leave a connection behind that holds up the stop, and takes a request too many.
 */
export const addGoodbye = (app: FastifyInstance): void => {
  let isStopping = false
  app.addHook('preClose', async () => {
    isStopping = true
  })
  app.addHook('onSend', async (_request, reply) => {
    if (isStopping) reply.header('connection', 'close')
  })
}
