import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Makes a port on this machine look far away: opening a connection takes a round trip, and every
 * byte arrives late.
 *
 * @param oneWay milliseconds
 */
export function delayConnections(port: number, oneWay: number): Server {
  return createServer({ noDelay: true }, (client) => {
    const server = connect({ port, host: '127.0.0.1', noDelay: true });
    // The kernel has already answered the client's SYN: its round trip is made up for here.
    const opened = performance.now() + 2 * oneWay;
    carry(client, server, () => Math.max(performance.now(), opened) + oneWay);
    carry(server, client, () => performance.now() + oneWay);
  });
}

function carry(from: Socket, to: Socket, arrival: () => number): void {
  const late = (deliver: () => void) => setTimeout(deliver, arrival() - performance.now());
  from.on('data', (bytes) => late(() => to.write(bytes)));
  from.on('end', () => late(() => to.end()));
  from.on('error', () => to.destroy());
  from.on('close', () => late(() => to.destroy()));
}
